package io.espalier.cli.term;

import io.espalier.core.json.Json;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Locale;

/** Formats values for people. */
public final class HumanFormat {
  private HumanFormat() {}

  /** Removes control characters, and characters that change the direction of text. */
  public static String clean(String text) {
    StringBuilder clean = new StringBuilder(text.length());
    for (int i = 0; i < text.length(); ) {
      int point = text.codePointAt(i);
      i += Character.charCount(point);
      boolean steers =
          Character.isISOControl(point)
              || Character.getType(point) == Character.FORMAT
              || Character.getType(point) == Character.SURROGATE
              || Character.getType(point) == Character.LINE_SEPARATOR
              || Character.getType(point) == Character.PARAGRAPH_SEPARATOR;
      clean.appendCodePoint(point == '\t' ? ' ' : steers ? '\uFFFD' : point);
    }
    return clean.toString();
  }

  /** Formats an instant in UTC, in seconds; a dash when unknown. */
  public static String time(long millis) {
    return millis <= 0
        ? "-"
        : Instant.ofEpochMilli(millis).truncatedTo(ChronoUnit.SECONDS).toString();
  }

  /** Formats a duration, such as {@code 1h05m} or {@code 12s}. */
  public static String duration(long millis) {
    Duration duration = Duration.ofMillis(Math.max(0, millis));
    long hours = duration.toHours();
    if (hours >= 48) {
      return hours / 24 + "d" + hours % 24 + "h";
    }
    if (hours > 0) {
      return String.format("%dh%02dm", hours, duration.toMinutesPart());
    }
    return duration.toMinutes() > 0
        ? String.format("%dm%02ds", duration.toMinutes(), duration.toSecondsPart())
        : duration.toSeconds() + "s";
  }

  /** Formats a size, such as {@code 1.5 MB}; empty when the field is missing. */
  public static String bytes(Json.Obj fields, String key) {
    return fields.get(key) == null ? "" : bytes(JsonFields.number(fields, key));
  }

  private static String bytes(long bytes) {
    if (bytes < 1000) {
      return bytes + " B";
    }
    double amount = bytes;
    String unit = "B";
    for (String larger : new String[] {"kB", "MB", "GB", "TB"}) {
      if (amount >= 999.5 || unit.equals("B")) {
        amount /= 1000;
        unit = larger;
      }
    }
    return String.format(Locale.ROOT, amount < 9.95 ? "%.1f %s" : "%.0f %s", amount, unit);
  }

  /** Formats a time, such as {@code 1.50 s}; empty when the field is missing. */
  public static String seconds(Json.Obj fields, String key) {
    return fields.get(key) == null
        ? ""
        : String.format(Locale.ROOT, "%.2f s", JsonFields.number(fields, key) / 1e3);
  }
}
