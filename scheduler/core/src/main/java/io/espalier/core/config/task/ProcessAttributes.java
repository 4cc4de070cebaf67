package io.espalier.core.config.task;

import java.util.Optional;
import java.util.OptionalInt;

/**
 * Attributes of a task process besides its command; empty ones are inherited from the supervisor.
 *
 * @param umask file mode creation mask, 0 to 0777
 * @param nice scheduling priority, -20 (most favoured) to 19
 */
public record ProcessAttributes(
    OptionalInt umask, OptionalInt nice, Optional<IoNice> ioNice, Optional<RunAs> runAs) {
  /** Attributes that are all inherited. */
  public static final ProcessAttributes INHERITED =
      new ProcessAttributes(
          OptionalInt.empty(), OptionalInt.empty(), Optional.empty(), Optional.empty());

  /**
   * The I/O scheduling class and level, as for {@code ioprio_set(2)}.
   *
   * @param level 0 (most favoured) to 7; 0 and unused for {@code IDLE}
   */
  public record IoNice(IoClass ioClass, int level) {}

  /** The classes of {@code ioprio_set(2)}. */
  public enum IoClass {
    REALTIME("realtime", 1),
    BEST_EFFORT("best_effort", 2),
    IDLE("idle", 3);

    private final String label;
    private final int number;

    IoClass(String label, int number) {
      this.label = label;
      this.number = number;
    }

    /** The value in the configuration. */
    public String label() {
      return label;
    }

    /** The number used by the kernel and {@code ionice -c}. */
    public int number() {
      return number;
    }
  }

  /**
   * The user that a task runs as.
   *
   * @param user name or number
   * @param group name or number; empty: the user's own groups
   */
  public record RunAs(String user, Optional<String> group) {
    /** The form in a configuration. */
    public String text() {
      return group.map(name -> user + ":" + name).orElse(user);
    }
  }
}
