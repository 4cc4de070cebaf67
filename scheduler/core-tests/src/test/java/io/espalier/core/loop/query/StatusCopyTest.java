package io.espalier.core.loop.query;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.scheduling.query.TaskQueries;
import io.espalier.core.status.TaskStatus;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

final class StatusCopyTest {
  private static final int TASKS = 10_000;

  private static @Nullable TaskStatus status(int kind, int task) {
    return switch (kind) {
      case 0 -> null;
      case 1 -> TaskQueries.PLAINLY_DONE;
      default -> TaskStatus.waiting(task, 30, kind);
    };
  }

  @Test
  void everyStatusIsThatWhichWasSetLast() {
    SplittableRandom random = new SplittableRandom(5);
    StatusCopy copy = new StatusCopy(TASKS);
    @Nullable TaskStatus[] expected = new TaskStatus[TASKS];
    for (int i = 0; i < 3 * TASKS; i++) {
      int task = random.nextInt(TASKS);
      expected[task] = status(random.nextInt(4), task);
      copy.set(task, expected[task]);
    }
    int next = -1;
    for (int task = 0; task < TASKS; task++) {
      assertThat(copy.get(task)).isSameAs(expected[task]);
      if (expected[task] != null) {
        next = copy.next(next + 1);
        assertThat(next).isEqualTo(task);
      }
    }
    assertThat(copy.next(next + 1)).isEqualTo(copy.size()).isEqualTo(TASKS);
  }

  @Test
  void aJobWithoutTasksHasNone() {
    assertThat(new StatusCopy(0).next(0)).isZero();
  }
}
