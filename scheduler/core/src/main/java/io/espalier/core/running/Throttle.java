package io.espalier.core.running;

import io.espalier.core.json.Json;
import io.espalier.core.text.ShortText;

/**
 * How fast a running task is to work (docs/writing-tasks.md#slowing-down).
 *
 * @param ratio 1: at full speed; 0: not at all, for now
 * @param reason one short line for people; may be empty
 */
public record Throttle(double ratio, String reason) {
  /** At full speed. */
  public static final Throttle NONE = new Throttle(1, "");

  private static final int LONGEST_REASON = 200;

  public Throttle {
    if (!(ratio >= 0 && ratio <= 1)) {
      throw new IllegalArgumentException("a ratio of " + ratio);
    }
    reason = ShortText.cut(reason.replaceAll("\\p{Cntrl}", " "), LONGEST_REASON);
  }

  /** Returns whether the task is to pause. */
  public boolean isPause() {
    return ratio == 0;
  }

  /** Returns the line that the task reads, with its end. */
  public String line() {
    String number = Json.of(Math.ceil(ratio * 1000) / 1000).toString();
    return (reason.isEmpty() ? number : number + " " + reason) + "\n";
  }
}
