package io.espalier.nodes.cron;

import static io.espalier.nodes.cron.Items.PACIFIC;
import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.json.Json;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.zone.ZoneOffsetTransition;
import java.time.zone.ZoneRules;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class StandardScheduleTest {
  private static final String BOTH = "'dst_fixes': ['skip', 'repeat_use_both']";
  private static final String EARLY = "'dst_fixes': ['skip', 'repeat_use_only_early']";
  private static final String LATE = "'dst_fixes': ['skip', 'repeat_use_only_late']";
  private static final String UNSKIP = "'dst_fixes': ['unskip', 'repeat_use_both']";

  /** One minute before the clock leaps from 2 to 3 in the morning. */
  private static final long SPRING = 1_362_909_540;

  /** One in the morning, for the first time. */
  private static final long AUTUMN = 1_383_465_600;

  private static final long MINUTE = 60;
  private static final long HOUR = 3600;

  private static CronSchedule pacific(String members) {
    return Items.schedule("{" + members + "}", PACIFIC);
  }

  private static long at(String instant) {
    return Instant.parse(instant).getEpochSecond();
  }

  @ParameterizedTest
  @ValueSource(strings = {"America/Los_Angeles", "UTC", ""})
  void k5MinutesAreChosenInAnyZone(String zoneName) {
    ZoneId zone = zoneName.isEmpty() ? ZoneId.systemDefault() : ZoneId.of(zoneName);
    CronSchedule every = Items.schedule("{'minute': {}, " + BOTH + "}", zone);
    assertThat(Items.next(every, 0)).isZero();
    assertThat(Items.next(every, 1)).isEqualTo(60);
    CronSchedule fromThree = Items.schedule("{'minute': {'start': 3}, " + BOTH + "}", zone);
    assertThat(Items.next(fromThree, 0)).isEqualTo(180);
    CronSchedule stride = Items.schedule("{'minute': {'period': 7}, " + BOTH + "}", zone);
    assertThat(Items.next(stride, 0)).isZero();
    assertThat(Items.next(stride, 1)).isEqualTo(420);
    assertThat(Items.next(stride, 3360)).isEqualTo(3360);
    assertThat(Items.next(stride, 3361)).isEqualTo(3600);
    assertThat(Items.next(stride, 28_799)).isEqualTo(28_800);
  }

  @Test
  void k5TheSearchGoesOverMidnightMonthAndYear() {
    CronSchedule noon = pacific("'minute': 0, 'hour': 12, 'day_of_month': 31, " + BOTH);
    assertThat(Items.events(noon, at("2013-11-15T00:00:00Z"), 3))
        .containsExactly(
            at("2013-12-31T20:00:00Z"), at("2014-01-31T20:00:00Z"), at("2014-03-31T19:00:00Z"));
    CronSchedule leap = pacific("'minute': 5, 'hour': 0, 'day_of_month': 29, 'month': 2, " + BOTH);
    assertThat(Items.next(leap, at("2096-03-01T12:00:00Z"))).isEqualTo(at("2104-02-29T08:05:00Z"));
    CronSchedule once =
        pacific("'minute': 0, 'hour': 0, 'day_of_month': 1, 'month': 1, 'year': 2020, " + BOTH);
    assertThat(Items.events(once, 0, 5)).containsExactly(at("2020-01-01T08:00:00Z"));
  }

  @Test
  void daysOfTheWeekAreCountedFromSunday() {
    CronSchedule sunday = pacific("'minute': 30, 'hour': 9, 'day_of_week': 1, " + BOTH);
    assertThat(Items.events(sunday, at("2026-11-21T00:00:00Z"), 2))
        .containsExactly(at("2026-11-22T17:30:00Z"), at("2026-11-29T17:30:00Z"));
    CronSchedule ends =
        pacific("'minute': 0, 'hour': 0, 'day_of_week': ['fri', 'Monday'], " + BOTH);
    assertThat(Items.events(ends, at("2026-11-21T12:00:00Z"), 3))
        .containsExactly(
            at("2026-11-23T08:00:00Z"), at("2026-11-27T08:00:00Z"), at("2026-11-30T08:00:00Z"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"3", "[3, 7, 9]"})
  void k8InTheSpringGapTimesAreSkippedOrMoveToItsEdge(String minutes) {
    CronSchedule skip = pacific("'minute': " + minutes + ", " + BOTH);
    assertThat(Items.next(skip, SPRING)).isEqualTo(SPRING + 240);
    CronSchedule unskip = pacific("'minute': " + minutes + ", " + UNSKIP);
    assertThat(Items.next(unskip, SPRING)).isEqualTo(SPRING + 59);
    // Several that were left out are one event, and it can be found up to its very second.
    assertThat(Items.next(unskip, SPRING + 30)).isEqualTo(SPRING + 59);
    assertThat(Items.next(unskip, SPRING + 59)).isEqualTo(SPRING + 59);
    assertThat(Items.next(unskip, SPRING + 60)).isEqualTo(SPRING + 240);
  }

  @Test
  void k8ADailyTimeInTheGapIsFoundFromFarAway() {
    String daily = "'minute': 30, 'hour': 2, ";
    long edge = SPRING + 59;
    assertThat(Items.events(pacific(daily + UNSKIP), edge - 86_400, 3))
        .containsExactly(at("2013-03-09T10:30:00Z"), edge, at("2013-03-11T09:30:00Z"));
    assertThat(Items.events(pacific(daily + BOTH), edge - 86_400, 2))
        .containsExactly(at("2013-03-09T10:30:00Z"), at("2013-03-11T09:30:00Z"));
    String thatDay = "'minute': 30, 'hour': 2, 'day_of_month': 10, 'month': 3, 'year': 2013, ";
    assertThat(Items.events(pacific(thatDay + UNSKIP), 0, 3)).containsExactly(edge);
    assertThat(Items.events(pacific(thatDay + BOTH), 0, 3)).isEmpty();
  }

  @Test
  void k9InTheAutumnRepeatTheChosenPassesCount() {
    long early3 = AUTUMN + 3 * MINUTE;
    long early7 = AUTUMN + 7 * MINUTE;
    long late3 = early3 + HOUR;
    long late7 = early7 + HOUR;
    long after3 = late3 + HOUR;
    String minutes = "'minute': [3, 7], ";
    assertThat(Items.events(pacific(minutes + BOTH), AUTUMN, 5))
        .containsExactly(early3, early7, late3, late7, after3);
    assertThat(Items.events(pacific(minutes + EARLY), AUTUMN, 3))
        .containsExactly(early3, early7, after3);
    assertThat(Items.events(pacific(minutes + LATE), AUTUMN, 3))
        .containsExactly(late3, late7, after3);
    // Also when asked inside the early hour.
    assertThat(Items.next(pacific(minutes + LATE), AUTUMN + 5 * MINUTE)).isEqualTo(late3);
    assertThat(Items.next(pacific(minutes + BOTH), AUTUMN + 8 * MINUTE)).isEqualTo(late3);
    assertThat(Items.next(pacific(minutes + EARLY), AUTUMN + HOUR)).isEqualTo(after3);
  }

  @Test
  void k9ADailyTimeInTheRepeatComesOnceOrTwice() {
    String daily = "'minute': 30, 'hour': 1, ";
    long early = AUTUMN + 30 * MINUTE;
    long yesterday = early - 86_400;
    long tomorrow = early + 86_400 + HOUR;
    assertThat(Items.events(pacific(daily + BOTH), yesterday, 4))
        .containsExactly(yesterday, early, early + HOUR, tomorrow);
    assertThat(Items.events(pacific(daily + EARLY), yesterday, 3))
        .containsExactly(yesterday, early, tomorrow);
    assertThat(Items.events(pacific(daily + LATE), yesterday, 3))
        .containsExactly(yesterday, early + HOUR, tomorrow);
    String thatDay = "'minute': 30, 'hour': 1, 'day_of_month': 3, 'month': 11, 'year': 2013, ";
    assertThat(Items.events(pacific(thatDay + BOTH), 0, 3)).containsExactly(early, early + HOUR);
    assertThat(Items.next(pacific(thatDay + BOTH), early + 1)).isEqualTo(early + HOUR);
    assertThat(Items.next(pacific(thatDay + EARLY), early + 1)).isEqualTo(-1);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '"',
      value = {
        "{'minute': 1, 'day_of_month': 1, 'day_of_week': 1, F} | cron.day_of_week: day_of_month and"
            + " day_of_week cannot both be given",
        "{'minute': 1, 'second': 1, F} | cron.second: unknown key \"second\"",
        "{'minute': 60, F} | cron.minute: expected a whole number from 0 to 59",
        "{'hour': 1, F} | cron.minute: \"minute\" is missing",
        "{'minute': 1} | cron.dst_fixes: \"dst_fixes\" is missing: what is to happen when the clock"
            + " is changed?",
        "{'minute': 1, 'dst_fixes': {}} | cron.dst_fixes: expected a list: W, not an object",
        "{'minute': 1, 'dst_fixes': []} | cron.dst_fixes: expected exactly W",
        "{'minute': 1, 'dst_fixes': ['skip']} | cron.dst_fixes: expected exactly W",
        "{'minute': 1, 'dst_fixes': ['repeat_use_both']} | cron.dst_fixes: expected exactly W",
        "{'minute': 1, 'dst_fixes': ['skip', 'unskip', 'repeat_use_both']} | cron.dst_fixes:"
            + " expected exactly W",
        "{'minute': 1, 'dst_fixes': ['skip', 'repeat_use_none']} | cron.dst_fixes[1]: expected W",
        "{'minute': 1, 'month': 2, 'day_of_month': 30, F} | cron: this never comes, as 30 February"
            + " never does",
        "7 | cron: expected an object or a line of five fields, not a number"
      })
  void k11MistakesAreNamed(String item, String problem) {
    String words =
        "one of \"skip\", \"unskip\" and one of \"repeat_use_both\", \"repeat_use_only_early\","
            + " \"repeat_use_only_late\"";
    assertThat(Items.problems(item.replace("F}", BOTH + "}")))
        .containsExactly(problem.replace("W", words));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '"',
      value = {
        "'month': 'DECEMBER', 'day_of_week': 'sUn' | * * * 12 1 *",
        "'month': ['jan', 2, 'Mar'], 'day_of_week': ['Saturday', 2] | * * * 1,2,3 2,7 *",
        "'month': {'start': 'Apr', 'end': 'jun'}, 'day_of_week': {'start': 'tuesday'} | * * * 4-6"
            + " 3-7 *",
        "'month': 'may', 'day_of_week': {} | * * * 5 * *"
      })
  void k12NamesOfMonthsAndDaysInAnyCase(String members, String printed) {
    assertThat(pacific("'minute': {}, " + BOTH + ", " + members))
        .hasToString(printed + " America/Los_Angeles");
    assertThat(Items.problems("{'minute': {}, " + BOTH + ", 'month': 'sept'}"))
        .singleElement()
        .asString()
        .startsWith("cron.month: unknown name");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        // The edges of summer time in 2013.
        "America/Los_Angeles | 1362909600 | 2013-03-10T03:00 | -25200",
        "America/Los_Angeles | 1362909540 | 2013-03-10T01:59 | -28800",
        "America/Los_Angeles | 1383465600 | 2013-11-03T01:00 | -25200",
        "America/Los_Angeles | 1383469140 | 2013-11-03T01:59 | -25200",
        "America/Los_Angeles | 1383469200 | 2013-11-03T01:00 | -28800",
        "America/Los_Angeles | 1383472740 | 2013-11-03T01:59 | -28800",
        "America/Los_Angeles | 1383472800 | 2013-11-03T02:00 | -28800",
        "America/New_York | 1362898740 | 2013-03-10T01:59 | -18000",
        "America/New_York | 1362898800 | 2013-03-10T03:00 | -14400",
        "America/New_York | 1383454800 | 2013-11-03T01:00 | -14400",
        "America/New_York | 1383458400 | 2013-11-03T01:00 | -18000",
        "Asia/Kolkata | 1362909600 | 2013-03-10T15:30 | 19800",
        "Asia/Tokyo | 1383465600 | 2013-11-03T17:00 | 32400",
        "America/Phoenix | 1362909600 | 2013-03-10T03:00 | -25200",
        "UTC | 0 | 1970-01-01T00:00 | 0"
      })
  void k13InstantsAndLabelsBelongTogether(
      String zoneName, long instant, LocalDateTime label, int offset) {
    ZoneId zone = ZoneId.of(zoneName);
    ZoneOffset there = zone.getRules().getOffset(Instant.ofEpochSecond(instant));
    assertThat(there.getTotalSeconds()).isEqualTo(offset);
    CronSchedule exact =
        Items.schedule(
            "{'minute': %d, 'hour': %d, 'day_of_month': %d, 'month': %d, 'year': %d, %s}"
                .formatted(
                    label.getMinute(),
                    label.getHour(),
                    label.getDayOfMonth(),
                    label.getMonthValue(),
                    label.getYear(),
                    BOTH),
            zone);
    assertThat(Items.next(exact, instant)).isEqualTo(instant);
    assertThat(Items.next(exact, instant - 59)).isEqualTo(instant);
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19})
  void theSearchFindsExactlyTheSetThatIsDefined(int seed) {
    SplittableRandom random = new SplittableRandom(seed);
    List<String> zones =
        List.of(
            "America/Los_Angeles",
            "Europe/Berlin",
            "Australia/Lord_Howe",
            "Pacific/Apia",
            "Asia/Tehran",
            "Africa/Casablanca");
    ZoneId zone = ZoneId.of(zones.get(random.nextInt(zones.size())));
    ZoneRules rules = zone.getRules();
    // Around a change of the clock, most often.
    Instant somewhere =
        Instant.ofEpochSecond(
            random.nextLong(at("2005-01-01T00:00:00Z"), at("2015-01-01T00:00:00Z")));
    ZoneOffsetTransition change = rules.nextTransition(somewhere);
    long middle = change == null ? somewhere.getEpochSecond() : change.toEpochSecond();
    long from = middle - random.nextLong(1, 40 * HOUR);
    long to = middle + random.nextLong(1, 40 * HOUR);
    boolean unskip = random.nextBoolean();
    String repeat = List.of("both", "only_early", "only_late").get(random.nextInt(3));
    String text =
        "{'minute': {'start': %d, 'period': %d}, 'hour': {'start': %d, 'period': %d}, 'dst_fixes':"
                .formatted(
                    random.nextInt(60),
                    random.nextInt(1, 40),
                    random.nextInt(4),
                    random.nextInt(1, 8))
            + " ['"
            + (unskip ? "unskip" : "skip")
            + "', 'repeat_use_"
            + repeat
            + "']}";
    CronSchedule schedule = Items.schedule(text, zone);
    FieldLabels labels = labels(text);
    TreeSet<Long> expected = new TreeSet<>();
    LocalDateTime label = LocalDateTime.ofEpochSecond(from - 48 * HOUR, 0, ZoneOffset.UTC);
    label = label.withSecond(0);
    while (label.toEpochSecond(ZoneOffset.UTC) < to + 48 * HOUR) {
      if (label.equals(labels.next(label))) {
        List<ZoneOffset> offsets = rules.getValidOffsets(label);
        if (offsets.isEmpty() && unskip) {
          expected.add(rules.getTransition(label).toEpochSecond() - 1);
        }
        for (int i = 0; i < offsets.size(); i++) {
          boolean alone = offsets.size() == 1;
          if (alone
              || repeat.equals("both")
              || repeat.equals(i == 0 ? "only_early" : "only_late")) {
            expected.add(label.toEpochSecond(offsets.get(i)));
          }
        }
      }
      label = label.plusMinutes(1);
    }
    List<Long> found = new ArrayList<>();
    for (long next = Items.next(schedule, from);
        next <= to;
        next = Items.next(schedule, next + 1)) {
      found.add(next);
    }
    assertThat(found)
        .as("%s in %s", text, zone)
        .containsExactlyElementsOf(expected.subSet(from, true, to, true));
  }

  private static FieldLabels labels(String text) {
    Json.Obj object = (Json.Obj) Items.json(text);
    Place place = new Place("", problem -> {});
    Selector all = Selector.read(null, place, new Selector.Bounds(0, 9999, Map.of()));
    return new FieldLabels(
        Selector.read(object.get("minute"), place, new Selector.Bounds(0, 59, Map.of())),
        Selector.read(object.get("hour"), place, new Selector.Bounds(0, 23, Map.of())),
        all,
        all,
        Selector.read(null, place, new Selector.Bounds(1, 7, Map.of())),
        all);
  }
}
