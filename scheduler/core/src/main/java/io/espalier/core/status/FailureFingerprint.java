package io.espalier.core.status;

import io.espalier.core.running.TaskResult;
import java.util.Locale;
import java.util.regex.Pattern;

/**
 * Computes fingerprints of failures: equal fingerprints mean the same cause. A fingerprint is a
 * hash of how the process ended and of its message without the parts that differ from task to task
 * (its own names, numbers, ids, blanks). If the message is the last line of the task's error
 * output, the exit code does not count. Fingerprints are stored, so they must not change between
 * versions.
 */
public final class FailureFingerprint {
  private static final int LOOKED_AT = 2_000;
  private static final Pattern ID =
      Pattern.compile("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}");
  private static final Pattern HEX =
      Pattern.compile("\\b(?:0x[0-9a-f]+|(?=[a-f]*[0-9])[0-9a-f]{8,})\\b");
  private static final Pattern NUMBER = Pattern.compile("[0-9]+");
  private static final Pattern BLANKS = Pattern.compile("\\s+");

  private static final long FNV_OFFSET = 0xcbf29ce484222325L;
  private static final long FNV_PRIME = 0x100000001b3L;

  private FailureFingerprint() {}

  /** Returns sixteen hexadecimal digits. */
  static String of(TaskResult end, String message) {
    String text =
        end.kind()
            + "|"
            + (end.stopReason() == null ? "" : end.stopReason())
            + "|"
            + (end.exitCode() == null || isErrorOutput(end, message) ? "" : end.exitCode())
            + "|"
            + (end.signal() == null ? "" : end.signal())
            + "|"
            + normalised(message, end.job(), end.node());
    long hash = FNV_OFFSET;
    for (int i = 0; i < text.length(); i++) {
      hash = (hash ^ text.charAt(i)) * FNV_PRIME;
    }
    return String.format(Locale.ROOT, "%016x", hash);
  }

  /**
   * Returns true when the message comes from the task's error output, so that its exit code does
   * not distinguish causes.
   */
  private static boolean isErrorOutput(TaskResult end, String message) {
    return message.equals(end.lastErrorLine());
  }

  /** The message with placeholders for everything that may differ between two tasks. */
  public static String normalised(String message, String job, String node) {
    String text = message.length() > LOOKED_AT ? message.substring(0, LOOKED_AT) : message;
    text = without(text, node, "<node>");
    text = without(text, job, "<job>");
    text = text.toLowerCase(Locale.ROOT);
    text = ID.matcher(text).replaceAll("<id>");
    text = HEX.matcher(text).replaceAll("<hex>");
    text = NUMBER.matcher(text).replaceAll("<n>");
    return BLANKS.matcher(text).replaceAll(" ").strip();
  }

  /** Replaces a name in the text, unless it has only one letter, which occurs in many words. */
  private static String without(String text, String name, String mark) {
    return name.length() < 2 ? text : text.replace(name, mark);
  }
}
