package io.espalier.core.scheduling.job;

import io.espalier.core.status.TaskStatus;
import io.espalier.core.status.TaskStatus.Main;
import org.jspecify.annotations.Nullable;

/**
 * Encodes a task in one byte: the main status, its flags, and whether the node is avoided or
 * disabled. There are 246 combinations, with fixed numbers. Code 0 is a task that was never tried
 * and may run, so new arrays need no initialization.
 */
public final class StatusCodes {
  public static final int COUNT = 246;

  /** The eligibility of the node by the job's filters and the enabled flags. */
  public static final int OPEN = 0;

  public static final int AVOIDED = 1;
  public static final int DISABLED = 2;

  public static final int UNSTARTED = 0;

  private static final int PER_EFFECT = 82;
  private static final int WAITING = 1;
  private static final int HOLDS = 2;
  private static final int OVERWRITEABLE = 4;
  private static final int SAVED = 8;

  public static final int RUNNING = code(Main.RUNNING, 0);

  /** Cancelled tasks have no flags here. */
  private static final int CANCELLED = code(Main.CANCELLED, 0);

  private StatusCodes() {}

  private static int code(Main main, int flags) {
    int place = main == Main.CANCELLED ? 6 : Integer.numberOfTrailingZeros(main.bit());
    return 1 + (place - 1) * 16 + flags;
  }

  /**
   * Returns the code of a status on an eligible node.
   *
   * @param waiting whether its back-off has not ended
   */
  public static int of(@Nullable TaskStatus status, boolean waiting) {
    if (status == null || status.main() == Main.UNSTARTED) {
      return UNSTARTED;
    }
    if (status.main() == Main.RUNNING) {
      return RUNNING;
    }
    if (status.main() == Main.CANCELLED) {
      return CANCELLED;
    }
    return code(
        status.main(),
        (waiting ? WAITING : 0)
            | (status.holdsPosition() ? HOLDS : 0)
            | (status.overwriteable() ? OVERWRITEABLE : 0)
            | (status.savedBackoff() ? SAVED : 0));
  }

  public static int effect(int code) {
    return code / PER_EFFECT;
  }

  public static int withEffect(int code, int effect) {
    return code % PER_EFFECT + effect * PER_EFFECT;
  }

  /** Returns the code with the node eligibility of another code. */
  public static int keepEffect(int code, int of) {
    return code + effect(of) * PER_EFFECT;
  }

  /** Returns the code after its wait has ended. */
  public static int afterWait(int code) {
    return isWaiting(code) ? code - WAITING : code;
  }

  public static boolean isWaiting(int code) {
    int status = code % PER_EFFECT;
    return status > 0 && ((status - 1) & WAITING) != 0;
  }

  public static Main main(int code) {
    int status = code % PER_EFFECT;
    return status == 0 ? Main.UNSTARTED : MAINS[1 + (status - 1) / 16];
  }

  private static final Main[] MAINS = Main.values();

  /** Returns whether the task is done, and verified if it is to be. */
  public static boolean isDone(int code) {
    return main(code) == Main.DONE && !awaitsVerification(code);
  }

  /** Returns whether the task is done and still to be verified. */
  public static boolean awaitsVerification(int code) {
    return main(code) == Main.DONE && ((code % PER_EFFECT - 1) & OVERWRITEABLE) != 0;
  }

  /** Returns whether the verification of the task may start, once a wait is over. */
  public static boolean isInVerification(int code) {
    return awaitsVerification(code) && ((code % PER_EFFECT - 1) & SAVED) != 0;
  }

  /** Returns whether the status lets the task start, regardless of the node. */
  public static boolean isReady(int code) {
    return switch (main(code)) {
      case UNSTARTED -> true;
      case INCOMPLETE, ERROR -> !isWaiting(code);
      case DONE -> isInVerification(code) && !isWaiting(code);
      case RUNNING, FAILED, CANCELLED -> false;
    };
  }

  /** Returns whether the status is done without any details to store. */
  public static boolean isPlainlyDone(int code) {
    return code % PER_EFFECT == code(Main.DONE, 0);
  }

  /**
   * Returns whether a status consists of more than its code. Running tasks are stored elsewhere.
   */
  public static boolean hasDetail(int code) {
    return code % PER_EFFECT != UNSTARTED && !isPlainlyDone(code) && !isRunning(code);
  }

  public static boolean isRunning(int code) {
    return code % PER_EFFECT == RUNNING;
  }

  /** Returns whether a task has not ended and its node does not exclude it from running. */
  public static boolean isRemaining(int code) {
    return switch (main(code)) {
      case RUNNING -> true;
      case FAILED, CANCELLED -> false;
      case DONE -> awaitsVerification(code) && effect(code) == OPEN;
      case UNSTARTED, INCOMPLETE, ERROR -> effect(code) == OPEN;
    };
  }

  /** Returns the status bits (docs/design/bistro.md#status-bits), as in histograms. */
  public static int bits(int code) {
    int status = code % PER_EFFECT;
    int effect = effect(code);
    int bits =
        effect == AVOIDED ? TaskStatus.AVOIDED : effect == DISABLED ? TaskStatus.DISABLED : 0;
    if (status == 0) {
      return effect == OPEN ? Main.UNSTARTED.bit() : bits;
    }
    int flags = status - 1;
    return bits
        | main(code).bit()
        | ((flags & WAITING) != 0 ? TaskStatus.USES_BACKOFF : 0)
        | ((flags & HOLDS) != 0 ? TaskStatus.DOES_NOT_ADVANCE_BACKOFF : 0)
        | ((flags & OVERWRITEABLE) != 0 ? TaskStatus.OVERWRITEABLE : 0)
        | ((flags & SAVED) != 0 ? TaskStatus.HAS_SAVED_BACKOFF : 0);
  }
}
