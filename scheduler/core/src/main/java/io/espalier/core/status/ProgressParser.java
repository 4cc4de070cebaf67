package io.espalier.core.status;

import io.espalier.core.json.Json;
import io.espalier.core.running.Progress;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * Distinguishes progress lines on a status pipe from status lines, and parses them: {@code
 * {"progress": {"done": 120000, "total": 300000, "cursor": "pk=8123"}}}. All three keys are
 * optional; other keys are retained. A line with {@code result} or {@code result_bits} is a status
 * line, whatever else it contains. Thread-safe if the port is.
 */
public final class ProgressParser {
  private static final String KEY = "progress";

  private final JsonDecoder json;

  public ProgressParser(JsonDecoder json) {
    this.json = json;
  }

  /**
   * The classification of a line. If both components are null, it is a status line.
   *
   * @param progress the progress it reports
   * @param problem why a progress line is invalid; it is not a status line either
   */
  public record Reading(@Nullable Progress progress, @Nullable String problem) {
    static final Reading STATUS = new Reading(null, null);

    /** Returns true when the line is to be read as a status. */
    public boolean isStatus() {
      return progress == null && problem == null;
    }
  }

  /**
   * Classifies a line; fast for lines that are not progress.
   *
   * @param line a line without its newline
   */
  public Reading read(String line) {
    if (!line.stripLeading().startsWith("{") || !line.contains("\"" + KEY + "\"")) {
      return Reading.STATUS;
    }
    boolean mayBeLong = line.length() > Progress.MAX_BYTES / 4;
    if (mayBeLong && line.getBytes(StandardCharsets.UTF_8).length > Progress.MAX_BYTES) {
      // A status may contain that word too; only a short line is parsed to find out.
      return line.contains("\"result") ? Reading.STATUS : refused("is too long", line);
    }
    if (!(json.read(line).value() instanceof Json.Obj object)
        || object.get(KEY) == null
        || object.get("result") != null
        || object.get("result_bits") != null) {
      return Reading.STATUS;
    }
    return object.get(KEY) instanceof Json.Obj progress
        ? read(progress, line)
        : refused("is not an object", line);
  }

  private static Reading read(Json.Obj progress, String line) {
    Json cursor = progress.get("cursor");
    if (!isCount(progress.get("done")) || !isCount(progress.get("total"))) {
      return refused("has a done or total that is not a whole number of 0 or more", line);
    }
    boolean usable =
        cursor == null
            || cursor instanceof Json.Null
            || cursor instanceof Json.Str
            || cursor instanceof Json.Num;
    if (!usable) {
      return refused("has a cursor that is not a string", line);
    }
    return new Reading(of((Json.Obj) JsonDecoder.withoutPositions(progress)), null);
  }

  private static Reading refused(String why, String line) {
    return new Reading(null, "progress " + why + ": " + StatusParser.shortened(line));
  }

  /** Parses progress in its own form, as a checkpoint contains it; unusable values are ignored. */
  public static Progress of(Json.Obj json) {
    Json cursor = json.get("cursor");
    return new Progress(
        count(json.get("done")),
        count(json.get("total")),
        cursor instanceof Json.Str text
            ? text.value()
            : cursor instanceof Json.Num ? cursor.toString() : null,
        json);
  }

  private static boolean isCount(@Nullable Json value) {
    return value == null || value instanceof Json.Null || count(value) != null;
  }

  private static @Nullable Long count(@Nullable Json value) {
    if (!(value instanceof Json.Num number)) {
      return null;
    }
    BigDecimal count = number.value();
    boolean usable =
        count.signum() == 0
            || (count.signum() > 0
                && count.precision() - count.scale() <= 18
                && count.stripTrailingZeros().scale() <= 0);
    return usable ? count.longValue() : null;
  }
}
