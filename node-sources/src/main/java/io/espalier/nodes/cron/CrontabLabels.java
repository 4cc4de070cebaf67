package io.espalier.nodes.cron;

import com.cronutils.model.Cron;
import com.cronutils.model.definition.CronDefinition;
import com.cronutils.model.definition.CronDefinitionBuilder;
import com.cronutils.model.time.ExecutionTime;
import com.cronutils.parser.CronParser;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The minutes of a classic line of five fields, as in crontab(5). The library parses the syntax and
 * is queried in UTC, so that clock changes of a zone are handled in one place only.
 */
final class CrontabLabels implements LocalMinutes {
  private static final Map<String, String> NICKNAMES =
      Map.of(
          "@yearly", "0 0 1 1 *",
          "@annually", "0 0 1 1 *",
          "@monthly", "0 0 1 * *",
          "@weekly", "0 0 * * 0",
          "@daily", "0 0 * * *",
          "@midnight", "0 0 * * *",
          "@hourly", "0 * * * *");

  private static final int HOUR = 1;
  private static final int DAY_OF_MONTH = 2;
  private static final int DAY_OF_WEEK = 4;

  private final String line;
  private final List<String> fields;
  private final ExecutionTime times;

  /**
   * @throws IllegalArgumentException describing the problem with the line
   */
  CrontabLabels(String text) {
    String trimmed = text.strip().toLowerCase(Locale.ROOT);
    line = NICKNAMES.getOrDefault(trimmed, trimmed);
    fields = List.of(line.split("\\s+", -1));
    Cron cron = new CronParser(definition()).parse(line);
    times = ExecutionTime.forCron(cron);
  }

  /**
   * Returns the definition of crontab(5): with two restricted day fields either may match, but if
   * one has a star both must.
   */
  private CronDefinition definition() {
    CronDefinitionBuilder builder =
        CronDefinitionBuilder.defineCron()
            .withMinutes()
            .withStrictRange()
            .and()
            .withHours()
            .withStrictRange()
            .and()
            .withDayOfMonth()
            .withStrictRange()
            .and()
            .withMonth()
            .withStrictRange()
            .and()
            .withDayOfWeek()
            .withValidRange(0, 7)
            .withMondayDoWValue(1)
            .withIntMapping(7, 0)
            .withStrictRange()
            .and();
    boolean star =
        fields.size() > DAY_OF_WEEK
            && (fields.get(DAY_OF_MONTH).startsWith("*")
                || fields.get(DAY_OF_WEEK).startsWith("*"));
    return star ? builder.matchDayOfWeekAndDayOfMonth().instance() : builder.instance();
  }

  /**
   * Returns whether the line applies to every hour, or every n-th hour: then a skipped hour is no
   * loss.
   */
  boolean isEveryHour() {
    return fields.get(HOUR).startsWith("*");
  }

  @Override
  public @Nullable LocalDateTime next(LocalDateTime from) {
    ZonedDateTime before = from.atZone(ZoneOffset.UTC).minusSeconds(1);
    LocalDateTime next =
        times.nextExecution(before).map(ZonedDateTime::toLocalDateTime).orElse(null);
    return next == null || next.getYear() > LAST_YEAR ? null : next;
  }

  @Override
  public String toString() {
    return line;
  }
}
