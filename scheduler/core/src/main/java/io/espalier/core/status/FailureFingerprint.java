package io.espalier.core.status;

import io.espalier.core.running.TaskResult;
import java.util.Locale;
import java.util.regex.Pattern;

/**
 * Tells whether two failures have the same cause: a hash of how the process ended and of its
 * message without what differs from task to task (its own names, numbers, ids, blanks). Where the
 * message is the last line of the task's error output, the exit code does not count. Stable over
 * versions: it is stored.
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

  /** Sixteen hexadecimal digits. */
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

  /** Where the task's own words say why, its exit code tells no causes apart. */
  private static boolean isErrorOutput(TaskResult end, String message) {
    return message.equals(end.lastErrorLine());
  }

  /** The message with a mark in place of everything that may differ between two tasks. */
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

  /** A name of one letter stands in many words. */
  private static String without(String text, String name, String mark) {
    return name.length() < 2 ? text : text.replace(name, mark);
  }
}
