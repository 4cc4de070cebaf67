package io.espalier.core.config.task;

/**
 * How to stop a task (docs/design/bistro.md#killing).
 *
 * @param waitMillis for {@code TERM_WAIT_KILL}: time between TERM and KILL; 0 or less kills at once
 */
public record KillRequest(Method method, int waitMillis) {
  public static final KillRequest DEFAULT = new KillRequest(Method.TERM, 0);

  /** The signal sequence. */
  public enum Method {
    TERM("term"),
    TERM_WAIT_KILL("term_wait_kill"),
    KILL("kill");

    private final String label;

    Method(String label) {
      this.label = label;
    }

    /** The value in the configuration. */
    public String label() {
      return label;
    }
  }
}
