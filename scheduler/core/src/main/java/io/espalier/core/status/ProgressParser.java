package io.espalier.core.status;

import io.espalier.core.json.Json;
import io.espalier.core.running.Counters;
import io.espalier.core.running.Progress;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * Distinguishes lines of progress and counters on a status pipe from status lines, and parses them:
 * {@code {"progress": {"done": 120000, "total": 300000, "cursor": "pk=8123"}}} and {@code {"count":
 * {"rows": 1200}}}; a line may have both. All three keys of progress are optional; other keys are
 * retained. A line with {@code result} or {@code result_bits} is a status line, whatever else it
 * contains. Thread-safe if the port is.
 */
public final class ProgressParser {
  private static final String KEY = "progress";
  private static final String COUNT = "count";

  private final JsonDecoder json;

  public ProgressParser(JsonDecoder json) {
    this.json = json;
  }

  /**
   * The classification of a line. If it reports nothing and has no problem, it is a status line.
   *
   * @param progress the progress it reports
   * @param counters what it counts
   * @param problem why a line of progress or counters is invalid; it is not a status line either
   */
  public record Reading(@Nullable Progress progress, Counters counters, @Nullable String problem) {
    static final Reading STATUS = new Reading(null, Counters.NONE, null);

    /** Returns true when the line is to be read as a status. */
    public boolean isStatus() {
      return progress == null && counters.isEmpty() && problem == null;
    }
  }

  /**
   * Classifies a line; fast for lines that are neither progress nor counters.
   *
   * @param line a line without its newline
   */
  public Reading read(String line) {
    if (!line.stripLeading().startsWith("{")
        || !(line.contains("\"" + KEY + "\"") || line.contains("\"" + COUNT + "\""))) {
      return Reading.STATUS;
    }
    boolean mayBeLong = line.length() > Progress.MAX_BYTES / 4;
    if (mayBeLong && line.getBytes(StandardCharsets.UTF_8).length > Progress.MAX_BYTES) {
      // A status may contain that word too; only a short line is parsed to find out.
      return line.contains("\"result") ? Reading.STATUS : refused("progress is too long", line);
    }
    return json.read(line).value() instanceof Json.Obj object ? read(object, line) : Reading.STATUS;
  }

  /**
   * Classifies a line that was parsed.
   *
   * @param line the line, of at most {@link Progress#MAX_BYTES}, for problems
   */
  public static Reading read(Json.Obj object, String line) {
    if ((object.get(KEY) == null && object.get(COUNT) == null)
        || object.get("result") != null
        || object.get("result_bits") != null) {
      return Reading.STATUS;
    }
    Counters.Reading counted = Counters.read(object.get(COUNT));
    if (counted.problem() != null) {
      return refused(counted.problem(), line);
    }
    if (object.get(KEY) == null) {
      // A line that counts nothing is no status either.
      return counted.counters().isEmpty()
          ? refused("count has no name", line)
          : new Reading(null, counted.counters(), null);
    }
    return object.get(KEY) instanceof Json.Obj progress
        ? progress(progress, counted.counters(), line)
        : refused("progress is not an object", line);
  }

  private static Reading progress(Json.Obj progress, Counters counters, String line) {
    Json cursor = progress.get("cursor");
    if (!isCount(progress.get("done")) || !isCount(progress.get("total"))) {
      return refused("progress has a done or total that is not a whole number of 0 or more", line);
    }
    boolean usable =
        cursor == null
            || cursor instanceof Json.Null
            || cursor instanceof Json.Str
            || cursor instanceof Json.Num;
    if (!usable) {
      return refused("progress has a cursor that is not a string", line);
    }
    return new Reading(of((Json.Obj) JsonDecoder.withoutPositions(progress)), counters, null);
  }

  private static Reading refused(String why, String line) {
    return new Reading(null, Counters.NONE, why + ": " + StatusParser.shortened(line));
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
        json,
        Counters.NONE,
        null);
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
