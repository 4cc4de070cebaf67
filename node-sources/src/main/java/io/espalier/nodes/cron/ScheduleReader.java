package io.espalier.nodes.cron;

import io.espalier.core.json.Json;
import io.espalier.core.problem.Problem;
import io.espalier.nodes.cron.Selector.Bounds;
import java.time.DayOfWeek;
import java.time.Month;
import java.time.ZoneId;
import java.time.format.TextStyle;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Reads crontab items: Bistro's objects, and classic lines of five fields. */
public final class ScheduleReader {
  private static final String EPOCH = "epoch";
  private static final String DST_FIXES = "dst_fixes";

  private static final Bounds SECONDS = new Bounds(0, CronSchedule.LAST, Map.of());
  private static final Bounds MINUTE = new Bounds(0, 59, Map.of());
  private static final Bounds HOUR = new Bounds(0, 23, Map.of());
  private static final Bounds DAY_OF_MONTH = new Bounds(1, 31, Map.of());
  private static final Bounds MONTH = new Bounds(1, 12, months());
  private static final Bounds DAY_OF_WEEK = new Bounds(1, 7, weekdays());
  private static final Bounds YEAR = new Bounds(1969, LocalMinutes.LAST_YEAR, Map.of());

  private static final List<String> KEYS =
      List.of("minute", "hour", "day_of_month", "month", "day_of_week", "year", DST_FIXES);

  private static final DstRules EVERY_HOUR = new DstRules(false, DstRules.Repeat.BOTH);
  private static final DstRules ONCE = new DstRules(true, DstRules.Repeat.ONLY_EARLY);

  private ScheduleReader() {}

  private static Map<String, Long> months() {
    Map<String, Long> names = new HashMap<>();
    for (Month month : Month.values()) {
      alias(names, month.getDisplayName(TextStyle.FULL, Locale.ENGLISH), month.getValue());
    }
    return names;
  }

  private static Map<String, Long> weekdays() {
    Map<String, Long> names = new HashMap<>();
    for (DayOfWeek day : DayOfWeek.values()) {
      alias(names, day.getDisplayName(TextStyle.FULL, Locale.ENGLISH), day.getValue() % 7 + 1);
    }
    return names;
  }

  private static void alias(Map<String, Long> names, String name, long number) {
    String lower = name.toLowerCase(Locale.ROOT);
    names.put(lower, number);
    names.put(lower.substring(0, 3), number);
  }

  /**
   * Reads one item.
   *
   * @param cron an object with the only key {@code epoch}, an object with {@code minute} and so on,
   *     or a line of five fields
   * @param dstFixes value of {@code dst_fixes} for a line; absent: a default that suits the line
   * @param path path of the item
   * @param problems receives all problems
   * @return null after an error
   */
  public static @Nullable CronSchedule read(
      Json cron,
      String path,
      @Nullable Json dstFixes,
      String dstFixesPath,
      ZoneId zone,
      Consumer<Problem> problems) {
    int[] errors = new int[1];
    Consumer<Problem> counting =
        problem -> {
          errors[0]++;
          problems.accept(problem);
        };
    Place place = new Place(path, counting);
    Place fixesPlace = new Place(dstFixesPath, counting);
    @Nullable CronSchedule schedule;
    if (cron instanceof Json.Str line) {
      schedule = line(line, place, dstFixes, fixesPlace, zone);
    } else if (cron instanceof Json.Obj object) {
      if (dstFixes != null) {
        fixesPlace.error(
            dstFixes,
            "\"dst_fixes\" here is for a line of five fields",
            "move it into the object \"cron\"");
      }
      schedule = object.get(EPOCH) == null ? fields(object, place, zone) : epoch(object, place);
    } else {
      place.error(cron, "expected an object or a line of five fields, not " + cron.kind(), null);
      schedule = null;
    }
    return errors[0] == 0 ? schedule : null;
  }

  private static CronSchedule epoch(Json.Obj object, Place place) {
    place.unknownKeys(object, List.of(EPOCH));
    return new EpochSchedule(Selector.read(object.get(EPOCH), place.key(EPOCH), SECONDS));
  }

  private static @Nullable CronSchedule fields(Json.Obj object, Place place, ZoneId zone) {
    place.unknownKeys(object, KEYS);
    if (object.get("minute") == null) {
      place
          .key("minute")
          .missing(object, "\"minute\" is missing", "write {} there for every minute");
    }
    Json dayOfWeek = object.get("day_of_week");
    if (object.get("day_of_month") != null && dayOfWeek != null) {
      place
          .key("day_of_week")
          .error(
              dayOfWeek,
              "day_of_month and day_of_week cannot both be given",
              "write two items into the schedule");
    }
    Json fixesAt = object.get(DST_FIXES);
    DstRules fixes = null;
    if (fixesAt == null) {
      place
          .key(DST_FIXES)
          .missing(
              object,
              "\"dst_fixes\" is missing: what is to happen when the clock is changed?",
              "for instance [\"unskip\", \"repeat_use_only_early\"]");
    } else {
      fixes = DstRules.read(fixesAt, place.key(DST_FIXES));
    }
    LocalMinutes labels =
        new FieldLabels(
            selector(object, "minute", place, MINUTE),
            selector(object, "hour", place, HOUR),
            selector(object, "day_of_month", place, DAY_OF_MONTH),
            selector(object, "month", place, MONTH),
            selector(object, "day_of_week", place, DAY_OF_WEEK),
            selector(object, "year", place, YEAR));
    return fixes == null ? null : checked(new LocalSchedule(labels, zone, fixes), object, place);
  }

  private static Selector selector(Json.Obj object, String key, Place place, Bounds bounds) {
    return Selector.read(object.get(key), place.key(key), bounds);
  }

  private static @Nullable CronSchedule line(
      Json.Str line, Place place, @Nullable Json dstFixes, Place fixesPlace, ZoneId zone) {
    DstRules fixes = dstFixes == null ? null : DstRules.read(dstFixes, fixesPlace);
    CrontabLabels labels;
    try {
      labels = new CrontabLabels(line.value());
    } catch (IllegalArgumentException e) {
      place.error(
          line,
          "not a line of crontab(5): " + e.getMessage(),
          "five fields: minute, hour, day of month, month, day of week");
      return null;
    }
    DstRules suitable = labels.isEveryHour() ? EVERY_HOUR : ONCE;
    return checked(new LocalSchedule(labels, zone, fixes == null ? suitable : fixes), line, place);
  }

  private static CronSchedule checked(LocalSchedule schedule, Json value, Place place) {
    if (schedule.firstLabel() == null) {
      place.error(value, "this never comes, as 30 February never does", null);
    }
    return schedule;
  }
}
