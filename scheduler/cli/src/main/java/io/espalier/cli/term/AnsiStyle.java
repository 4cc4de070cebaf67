package io.espalier.cli.term;

/** Colours for states, from the sixteen colours that every terminal theme defines. */
public enum AnsiStyle {
  NONE(""),
  BOLD("1"),
  DIM("2"),
  RED("31"),
  GREEN("32"),
  YELLOW("33"),
  CYAN("36");

  private final String code;

  AnsiStyle(String code) {
    this.code = code;
  }

  public String on(String text) {
    return this == NONE || text.isEmpty() ? text : "\u001b[" + code + 'm' + text + "\u001b[0m";
  }

  /** Returns the colour of a state of a job, a task or a worker; the first word decides. */
  public static AnsiStyle ofState(String state) {
    int end = 0;
    while (end < state.length()
        && (Character.isLetter(state.charAt(end)) || state.charAt(end) == '_')) {
      end++;
    }
    return switch (state.substring(0, end)) {
      case "failed", "invalid", "unhealthy", "lost", "deadline", "error", "killed" -> RED;
      case "error_backoff",
          "incomplete_backoff",
          "paused",
          "stopped",
          "draining",
          "drained",
          "waiting" ->
          YELLOW;
      case "done", "healthy", "succeeded" -> GREEN;
      case "running" -> CYAN;
      case "disabled", "avoided", "cancelled" -> DIM;
      default -> NONE;
    };
  }

  /** Returns the colour of a count that should be zero. */
  public static AnsiStyle ofTrouble(String count) {
    return count.equals("0") || count.isBlank() ? NONE : RED;
  }
}
