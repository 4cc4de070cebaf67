package io.espalier.nodes.cron;

import static io.espalier.nodes.cron.Items.PACIFIC;
import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Classic lines of five fields. */
class CrontabTest {
  private static final ZoneId UTC = ZoneId.of("UTC");

  private static List<String> events(String line, String from, int count) {
    CronSchedule schedule = Items.schedule("'" + line + "'", UTC);
    long at = LocalDateTime.parse(from).toEpochSecond(ZoneOffset.UTC);
    return Items.events(schedule, at, count).stream()
        .map(event -> LocalDateTime.ofEpochSecond(event, 0, ZoneOffset.UTC).toString())
        .toList();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "*/5 * * * * | 2026-01-01T00:00 2026-01-01T00:05 2026-01-01T00:10",
        "*/5   *  * * * | 2026-01-01T00:00 2026-01-01T00:05 2026-01-01T00:10",
        "30 2 * * * | 2026-01-01T02:30 2026-01-02T02:30 2026-01-03T02:30",
        "0 9-17/4 * * mon-FRI | 2026-01-01T09:00 2026-01-01T13:00 2026-01-01T17:00",
        "0 0 * * 7 | 2026-01-04T00:00 2026-01-11T00:00 2026-01-18T00:00",
        "0 0 * * 0 | 2026-01-04T00:00 2026-01-11T00:00 2026-01-18T00:00",
        "0 0 29 FEB * | 2028-02-29T00:00 2032-02-29T00:00 2036-02-29T00:00",
        // Two day fields: either; with a star: both.
        "0 0 1,15 * 1 | 2026-01-01T00:00 2026-01-05T00:00 2026-01-12T00:00",
        "0 0 */2 * 1 | 2026-01-05T00:00 2026-01-19T00:00 2026-02-09T00:00",
        "@hourly | 2026-01-01T00:00 2026-01-01T01:00 2026-01-01T02:00",
        "@Daily | 2026-01-01T00:00 2026-01-02T00:00 2026-01-03T00:00",
        "@weekly | 2026-01-04T00:00 2026-01-11T00:00 2026-01-18T00:00",
        "@monthly | 2026-01-01T00:00 2026-02-01T00:00 2026-03-01T00:00",
        "@yearly | 2026-01-01T00:00 2027-01-01T00:00 2028-01-01T00:00"
      })
  void linesMeanWhatTheManualSays(String line, String times) {
    assertThat(events(line, "2026-01-01T00:00", 3)).containsExactly(times.split(" ", -1));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "* * * *",
        "* * * * * *",
        "60 * * * *",
        "* 24 * * *",
        "* * 0 * *",
        "* * * 13 *",
        "* * * * 8",
        "5-1 * * * *",
        "*/0 * * * *",
        "x * * * *",
        "0 0 L * *",
        "0 0 * * 1#2",
        "@reboot",
        "@often"
      })
  void otherLinesAreRefused(String line) {
    assertThat(Items.problems("'" + line + "'"))
        .singleElement()
        .asString()
        .startsWith("cron: not a line of crontab(5): ");
  }

  @Test
  void aLineThatNeverComesIsRefused() {
    assertThat(Items.problems("'0 0 30 2 *'"))
        .containsExactly("cron: this never comes, as 30 February never does");
  }

  @Test
  void aFixedTimeComesOnceADayAndAnHourlyOneEveryHourHoweverTheClockIsChanged() {
    long springGap = 1_362_909_600;
    CronSchedule daily = Items.schedule("'30 2 * * *'", PACIFIC);
    assertThat(Items.events(daily, springGap - 3600, 2))
        .containsExactly(springGap - 1, Instant.parse("2013-03-11T09:30:00Z").getEpochSecond());
    long autumn = 1_383_465_600;
    CronSchedule inTheRepeat = Items.schedule("'30 1 * * *'", PACIFIC);
    assertThat(Items.events(inTheRepeat, autumn, 2))
        .containsExactly(autumn + 1800, autumn + 1800 + 25 * 3600);
    CronSchedule halfHourly = Items.schedule("'*/30 * * * *'", PACIFIC);
    assertThat(Items.events(halfHourly, autumn, 5))
        .containsExactly(autumn, autumn + 1800, autumn + 3600, autumn + 5400, autumn + 7200);
    assertThat(Items.events(halfHourly, springGap - 1800, 3))
        .containsExactly(springGap - 1800, springGap, springGap + 1800);
  }
}
