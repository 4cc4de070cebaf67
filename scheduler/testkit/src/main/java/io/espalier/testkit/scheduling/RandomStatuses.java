package io.espalier.testkit.scheduling;

import io.espalier.core.status.ProgramTransitions;
import io.espalier.core.status.TaskStatus;
import io.espalier.core.status.TaskStatus.Main;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/** Random statuses of tasks. The order of the calls decides, with the seed, what they are. */
final class RandomStatuses {
  private final Random random;
  private final boolean verified;

  /**
   * @param verified whether tasks that are done may have to be verified
   */
  RandomStatuses(Random random, boolean verified) {
    this.random = random;
    this.verified = verified;
  }

  /** Returns a status of a kind, since at most two seconds. */
  TaskStatus of(Main main, long now) {
    boolean backoff = main != Main.RUNNING && main != Main.DONE && random.nextInt(3) > 0;
    boolean pause = (main == Main.INCOMPLETE || main == Main.ERROR) && random.nextInt(3) == 0;
    return TaskStatus.ofBits(
        main.bit()
            | (backoff ? TaskStatus.USES_BACKOFF : 0)
            | flag(4, TaskStatus.DOES_NOT_ADVANCE_BACKOFF)
            | flag(5, TaskStatus.OVERWRITEABLE)
            | flag(6, TaskStatus.HAS_SAVED_BACKOFF),
        now - random.nextInt(2000),
        backoff || pause ? random.nextInt(4) : 0,
        0,
        1 + random.nextInt(3),
        null);
  }

  /** Returns the flag in one of {@code oneOf} cases, else 0. */
  private int flag(int oneOf, int bit) {
    return random.nextInt(oneOf) == 0 ? bit : 0;
  }

  /** Returns the status of a task that does not run; null: never tried. */
  @Nullable TaskStatus any(long now) {
    return switch (random.nextInt(8)) {
      case 0 -> null;
      case 1, 2 -> verified ? someDone(now) : TaskStatus.of(Main.DONE, now, 1);
      case 3 -> of(Main.FAILED, now);
      case 4 -> of(Main.INCOMPLETE, now);
      case 5 -> of(Main.CANCELLED, now);
      default -> of(Main.ERROR, now);
    };
  }

  /** Returns the status of a task that is done: verified, to be verified, or not at all. */
  private TaskStatus someDone(long now) {
    TaskStatus done = TaskStatus.of(Main.DONE, now - random.nextInt(2000), 1);
    return switch (random.nextInt(5)) {
      case 0 -> done;
      case 1 -> done.with(s -> s.holdsPosition(true));
      case 2 -> ProgramTransitions.toVerify(done);
      case 3 -> ProgramTransitions.mayBeVerified(done);
      default -> {
        // A verification that has failed is tried again after a wait.
        int wait = 1 + random.nextInt(3);
        yield ProgramTransitions.mayBeVerified(done)
            .with(s -> s.usesBackoff(true).backoffSeconds(wait));
      }
    };
  }
}
