package io.espalier.core.config.window;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.espalier.core.config.window.OpenTimes.Opening;
import java.time.DayOfWeek;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.zone.ZoneOffsetTransition;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Windows and freezes, compared with a look at the wall clock in each minute. */
class OpenTimesTest {
  private static final long MINUTE = 60_000;
  private static final int MINUTES = 9 * 1440;
  private static final List<String> DAYS = List.of("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun");

  /** With changes of an hour, of half an hour, of a whole day, to the east and west of UTC. */
  private static final List<String> ZONES =
      List.of(
          "Europe/Berlin",
          "America/New_York",
          "Australia/Lord_Howe",
          "Africa/Casablanca",
          "America/St_Johns",
          "Asia/Kathmandu",
          "Pacific/Apia",
          "UTC",
          "+02:00");

  private static Window window(String text) {
    try {
      return Window.parse(text);
    } catch (WindowSyntaxException e) {
      throw new AssertionError(text, e);
    }
  }

  private static Schedule windows(String... texts) {
    List<Window> windows = new ArrayList<>();
    for (String text : texts) {
      windows.add(window(text));
    }
    return new Schedule(windows, List.of());
  }

  private static long millis(String instant) {
    return Instant.parse(instant).toEpochMilli();
  }

  private static String next(String now, long needMinutes, Schedule... schedules) {
    Opening opening =
        new OpenTimes(List.of(schedules))
            .next(millis(now), Math.multiplyExact(needMinutes, MINUTE));
    return opening == null
        ? "never"
        : Instant.ofEpochMilli(opening.fromMillis())
            + (opening.toMillis() == Long.MAX_VALUE
                ? ""
                : " " + Instant.ofEpochMilli(opening.toMillis()));
  }

  // ---- the oracle

  private static boolean isOpen(Schedule schedule, long millis) {
    boolean open = schedule.windows().isEmpty();
    for (Window window : schedule.windows()) {
      LocalDateTime local = LocalDateTime.ofInstant(Instant.ofEpochMilli(millis), window.zone());
      int minute = local.getHour() * 60 + local.getMinute();
      DayOfWeek day = local.getDayOfWeek();
      open |=
          window.days().contains(day)
              && window.fromMinute() <= minute
              && minute < window.toMinute();
      open |= window.days().contains(day.minus(1)) && minute + 1440 < window.toMinute();
    }
    for (Freeze freeze : schedule.freezes()) {
      ZoneId zone = freeze.zone().orElseThrow();
      LocalDate day = LocalDate.ofInstant(Instant.ofEpochMilli(millis), zone);
      open &= day.isBefore(freeze.from()) || day.isAfter(freeze.to());
    }
    return open;
  }

  private static Schedule schedule(Random random, LocalDate around) {
    List<Window> windows = new ArrayList<>();
    for (int i = random.nextInt(4); i > 0; i--) {
      windows.add(window(text(random)));
    }
    List<Freeze> freezes = new ArrayList<>();
    for (int i = random.nextInt(3); i > 0; i--) {
      LocalDate from = around.plusDays(random.nextInt(8) - 2);
      freezes.add(
          new Freeze(
              from,
              from.plusDays(random.nextInt(3)),
              Optional.of(ZoneId.of(ZONES.get(random.nextInt(ZONES.size())))),
              ""));
    }
    return new Schedule(windows, freezes);
  }

  private static String text(Random random) {
    String days = DAYS.get(random.nextInt(7));
    days += random.nextBoolean() ? "-" + DAYS.get(random.nextInt(7)) : "";
    days += random.nextInt(3) == 0 ? "," + DAYS.get(random.nextInt(7)) : "";
    int from = random.nextInt(1440);
    int to = (from + 1 + random.nextInt(1439)) % 1440;
    String times =
        String.format(Locale.ROOT, "%02d:%02d-%02d:%02d", from / 60, from % 60, to / 60, to % 60);
    String zone = " " + ZONES.get(random.nextInt(ZONES.size()));
    return switch (random.nextInt(4)) {
      case 0 -> days + zone;
      case 1 -> times + zone;
      default -> days + " " + times + zone;
    };
  }

  /** Returns the evening some days before a change of the clock, or any instant. */
  private static long start(Random random) {
    ZoneId zone = ZoneId.of(ZONES.get(random.nextInt(ZONES.size())));
    Instant any = Instant.ofEpochSecond(1_262_304_000L + random.nextInt(700_000_000));
    ZoneOffsetTransition change = zone.getRules().nextTransition(any);
    Instant at = change == null || random.nextInt(4) == 0 ? any : change.getInstant();
    return Math.floorDiv(at.toEpochMilli(), MINUTE) * MINUTE - random.nextInt(5 * 1440) * MINUTE;
  }

  @Test
  void everyMinuteIsAsTheWallClockSays() {
    for (int seed = 0; seed < 300; seed++) {
      Random random = new Random(seed);
      long start = start(random);
      LocalDate day = LocalDate.ofInstant(Instant.ofEpochMilli(start), ZoneId.of("UTC"));
      List<Schedule> schedules =
          random.nextBoolean()
              ? List.of(schedule(random, day))
              : List.of(schedule(random, day), schedule(random, day));
      boolean[] open = new boolean[MINUTES];
      for (int minute = 0; minute < MINUTES; minute++) {
        long at = start + minute * MINUTE;
        open[minute] = schedules.stream().allMatch(each -> isOpen(each, at));
      }
      Intervals found = OpenTimes.of(schedules, start, start + MINUTES * MINUTE);
      boolean[] covered = new boolean[MINUTES];
      for (int i = 0; i < found.count(); i++) {
        assertThat(found.from(i) % MINUTE).isZero();
        assertThat(found.to(i) % MINUTE).isZero();
        assertThat(i == 0 || found.from(i) > found.to(i - 1)).as("apart").isTrue();
        for (long at = found.from(i); at < found.to(i); at += MINUTE) {
          covered[(int) ((at - start) / MINUTE)] = true;
        }
      }
      assertThat(covered).as("seed " + seed + ": " + schedules).isEqualTo(open);
      nextIsTheFirstThatIsLongEnough(new OpenTimes(schedules), open, start, random);
    }
  }

  private static void nextIsTheFirstThatIsLongEnough(
      OpenTimes times, boolean[] open, long start, Random random) {
    int now = 0;
    for (int i = 0; i < 20; i++) {
      now += random.nextInt(200);
      int need = random.nextInt(3) == 0 ? 0 : random.nextInt(600);
      int from = now;
      int to = now;
      while (to < MINUTES && (!open[to] || to - from + 1 < Math.max(1, need))) {
        from = open[to] ? from : to + 1;
        to++;
      }
      Opening next = times.next(start + now * MINUTE, need * MINUTE);
      if (to < MINUTES) {
        assertThat(next).isNotNull();
        assertThat(next == null ? 0 : next.fromMillis()).isEqualTo(start + from * MINUTE);
      } else if (next != null) {
        assertThat(next.fromMillis() + need * MINUTE)
            .isGreaterThanOrEqualTo(start + MINUTES * MINUTE);
      }
    }
  }

  // ---- what it means, by examples

  @Test
  void theDayIsThatOfTheStart() {
    Schedule nights = windows("Mon-Fri 22:00-05:00 Europe/Berlin");
    assertThat(next("2026-11-27T20:00:00Z", 0, nights))
        .isEqualTo("2026-11-27T21:00:00Z 2026-11-28T04:00:00Z");
    assertThat(next("2026-11-28T20:00:00Z", 0, nights)).startsWith("2026-11-30T21:00:00Z");
  }

  @Test
  void anHourThatIsSkippedIsSkippedAndOneThatIsRepeatedCountsTwice() {
    Schedule skipped = windows("Sun 02:00-03:00 Europe/Berlin");
    assertThat(next("2026-03-28T12:00:00Z", 0, skipped)).startsWith("2026-04-05T00:00:00Z");
    assertThat(next("2026-10-24T12:00:00Z", 0, skipped))
        .isEqualTo("2026-10-25T00:00:00Z 2026-10-25T02:00:00Z");
    Schedule half = windows("Sun 02:30-05:00 Europe/Berlin");
    assertThat(next("2026-10-24T12:00:00Z", 0, half))
        .isEqualTo("2026-10-25T00:30:00Z 2026-10-25T01:00:00Z");
    assertThat(next("2026-10-25T01:00:00Z", 0, half))
        .isEqualTo("2026-10-25T01:30:00Z 2026-10-25T04:00:00Z");
  }

  @Test
  void freezesWinAndTheirLastDayIsIncluded() {
    Freeze yearEnd =
        new Freeze(
            LocalDate.of(2026, 12, 18), LocalDate.of(2027, 1, 4), Optional.empty(), "year end");
    Schedule schedule = new Schedule(windows("Sat-Sun Europe/Berlin").windows(), List.of(yearEnd));
    assertThat(next("2026-12-13T23:00:00Z", 0, schedule))
        .isEqualTo("2027-01-08T23:00:00Z 2027-01-10T23:00:00Z");
    assertThat(schedule.freezeAt(millis("2027-01-04T22:59:59Z"))).isEqualTo(yearEnd);
    assertThat(schedule.freezeAt(millis("2027-01-04T23:00:00Z"))).isNull();
  }

  @Test
  void whatDoesNotFitIntoTheRestWaitsForTheNext() {
    Schedule nights = windows("22:00-02:00 UTC");
    assertThat(next("2026-11-23T23:00:00Z", 180, nights)).startsWith("2026-11-23T23:00:00Z");
    assertThat(next("2026-11-23T23:01:00Z", 180, nights)).startsWith("2026-11-24T22:00:00Z");
    assertThat(next("2026-11-23T23:01:00Z", 241, nights)).isEqualTo("never");
  }

  @Test
  void whatIsNeverOrAlwaysOpenIsKnown() {
    Schedule day = windows("08:00-16:00 UTC");
    assertThat(next("2026-11-23T23:00:00Z", 0, day, windows("16:00-20:00 UTC"))).isEqualTo("never");
    assertThat(next("2026-11-23T23:00:00Z", 0, Schedule.ALWAYS)).isEqualTo("2026-11-23T23:00:00Z");
    assertThat(next("2026-11-23T23:00:00Z", 0, windows("Sat-Fri UTC")))
        .isEqualTo("2026-11-23T23:00:00Z");
    assertThat(new OpenTimes(List.of(day, windows("10:00-20:00 UTC"))).longestMillis())
        .isEqualTo(360 * MINUTE);
    assertThat(new OpenTimes(List.of(day, windows("16:00-20:00 UTC"))).longestMillis()).isZero();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "Mon-Fri 22:00-05:00; the time zone is missing",
        "Sat-Sun; the time zone is missing",
        "22:00-05:00; the time zone is missing",
        "UTC; expected days, times or both",
        "Mon 1-2 UTC; expected days, times or both",
        "Mon 22:00-05:00 Europe/Berlin x; expected days, times or both",
        "Mon-Fry UTC; unknown day \"Fry\"",
        "Mon 22:00-22:00 UTC; never opens",
        "Mon 24:00-25:00 UTC; no window begins at 24:00, and no window ends at 25:00",
        "Mon 24:00-01:00 UTC; no window begins at 24:00",
        "Mon 22:00-24:01 UTC; no window ends at 24:01",
        "Mon 22:60-23:00 UTC; no window begins at 22:60",
        "Mon 22:00-23:00 Europe/Berlinn; unknown time zone \"Europe/Berlinn\""
      })
  void whatIsNoWindowIsSaid(String text, String message) {
    assertThatThrownBy(() -> Window.parse(text))
        .isInstanceOf(WindowSyntaxException.class)
        .hasMessageContaining(message);
  }

  @Test
  void hintsHelp() {
    assertThatThrownBy(() -> Window.parse("Mon Europe/Berlinn"))
        .isInstanceOfSatisfying(
            WindowSyntaxException.class,
            e -> assertThat(e.hint()).isEqualTo("did you mean \"Europe/Berlin\"?"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"CST", "PDT", "QQQ", "AEST", "EDT"})
  void ofAbbreviationsOfZonesNoOtherIsSuggested(String zone) {
    assertThatThrownBy(() -> Window.parse("22:00-05:00 " + zone))
        .isInstanceOfSatisfying(
            WindowSyntaxException.class,
            e ->
                assertThat(e.hint())
                    .isEqualTo(
                        "abbreviations are ambiguous: write a place, such as"
                            + " \"America/New_York\""));
  }

  @ParameterizedTest
  @ValueSource(strings = {"Mon,Wed-Thu 0:00-24:00 UTC", "monday CET", "22:00-24:00 WET"})
  void otherFormsAreRead(String text) {
    assertThat(window(text).text()).isEqualTo(text);
  }
}
