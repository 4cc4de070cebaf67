package io.espalier.worker.process.kill;

import io.espalier.worker.cgroup.TaskGroup;
import io.espalier.worker.process.os.Signals;
import java.io.IOException;
import java.util.List;
import java.util.function.Consumer;

/** Adapts the control groups of a task to their reaper. */
public record CgroupMembers(TaskGroup group, Consumer<String> warnings)
    implements CgroupReaper.Members {
  @Override
  public boolean isEmpty() {
    return group.isEmpty();
  }

  @Override
  public TaskGroup.Killing kill() throws IOException {
    return group.kill(Signals::kill);
  }

  @Override
  public void thaw() throws IOException {
    group.thaw();
  }

  @Override
  public List<String> remove() {
    return group.remove();
  }

  @Override
  public void warn(String what) {
    warnings.accept(what);
  }
}
