package io.espalier.worker.process;

import io.espalier.core.running.Throttle;
import io.espalier.worker.process.os.TaskUser;
import io.espalier.worker.process.spawn.JsonArgument;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The file in which a task reads how fast to work (docs/writing-tasks.md#slowing-down). It exists
 * only when something else than full speed was said, is replaced as a whole, and at most once a
 * second. Confined to the supervisor's thread.
 */
final class ThrottleFile {
  /** The environment variable that names the file. */
  static final String VARIABLE = "ESPALIER_TASK_THROTTLE";

  private static final Logger log = LoggerFactory.getLogger(ThrottleFile.class);
  private static final long PAUSE_NANOS = 1_000_000_000L;

  private final Path file;
  private final @Nullable TaskUser owner;
  private final Timer timer;
  private @Nullable Throttle newest;
  private boolean isPausing;
  private boolean isDeleted;

  /** Runs an action later. */
  interface Timer {
    void after(long nanos, Runnable action);
  }

  /**
   * @param owner user who must be able to read it; null: the user of this process
   */
  ThrottleFile(Path file, @Nullable TaskUser owner, Timer timer) {
    this.file = file;
    this.owner = owner;
    this.timer = timer;
  }

  void write(Throttle throttle) {
    newest = throttle;
    if (!isPausing) {
      writeNewest();
    }
  }

  private void writeNewest() {
    Throttle throttle = newest;
    if (throttle == null || isDeleted) {
      isPausing = false;
      return;
    }
    newest = null;
    isPausing = true;
    Path fresh = file.resolveSibling(file.getFileName() + ".new");
    try {
      JsonArgument.writePrivately(fresh, throttle.line(), owner);
      Files.move(fresh, file, StandardCopyOption.ATOMIC_MOVE);
    } catch (IOException e) {
      log.warn("{} cannot be written: {}", file, e.toString());
    }
    timer.after(PAUSE_NANOS, this::writeNewest);
  }

  void delete() {
    isDeleted = true;
    try {
      Files.deleteIfExists(file);
    } catch (IOException e) {
      log.debug("left behind until the next start: {}", file, e);
    }
  }
}
