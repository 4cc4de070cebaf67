package io.espalier.core.scheduling.task;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.api.view.FailureGroups;
import io.espalier.core.status.Failure;
import io.espalier.core.status.TaskStatus;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class FailureIndexTest {
  private final FailureIndex index = new FailureIndex();
  private final List<TaskStatus> statuses = new ArrayList<>();

  /** Adds the task of the next node. */
  private void fails(long atMillis) {
    int node = statuses.size();
    Failure failure = new Failure("denied", "denied for n" + node);
    TaskStatus status = TaskStatus.of(TaskStatus.Main.FAILED, atMillis, 1).withFailure(failure);
    statuses.add(index.add(node, status, failure));
  }

  private FailureGroups.Group only(int samples) {
    return index.largest(10, samples, statuses::get, node -> "n" + node).get(0);
  }

  /** A scheduler that starts loads statuses in the order of their nodes. */
  @Test
  void theTaskOfTheMessageComesFirstInWhateverOrderStatusesAreLoaded() {
    fails(1_000);
    fails(9_000);
    for (int i = 0; i < 40; i++) {
      fails(2_000 + i);
    }
    FailureGroups.Group group = only(3);
    assertThat(group.message()).isEqualTo("denied for n1");
    assertThat(group.samples()).containsExactly("n1", "n41", "n40");
    assertThat(only(0).samples()).isEmpty();
  }

  @Test
  void aTaskThatNoLongerFailsIsNotNamed() {
    fails(1_000);
    fails(2_000);
    TaskStatus failed = statuses.get(1);
    index.remove(failed, new Failure("denied", "denied for n1"));
    statuses.set(1, TaskStatus.of(TaskStatus.Main.DONE, 3_000, 1));
    assertThat(only(3).samples()).containsExactly("n0");
  }
}
