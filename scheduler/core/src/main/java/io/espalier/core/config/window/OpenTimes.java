package io.espalier.core.config.window;

import java.time.DayOfWeek;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneId;
import java.time.zone.ZoneOffsetTransition;
import java.time.zone.ZoneRules;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The times at which all of some schedules are open. They follow local wall clocks: an hour that a
 * change of the clock skips is skipped, and one that it repeats counts twice. It keeps the instants
 * of the next two weeks, and looks further ahead only where nothing opens before. For one thread.
 */
public final class OpenTimes {
  private static final long MINUTE = 60_000;
  private static final long DAY = Window.MINUTES_OF_DAY * MINUTE;
  private static final long KEPT = 15 * DAY;
  private static final long FAR = 8;

  /** For how long at most {@link #next} need not be asked again when it has found nothing. */
  public static final long NONE_FOR_MILLIS = KEPT;

  private static final int LOOKS = 2;

  /** A year in which windows are looked at apart from any freeze, which has all changes of time. */
  private static final long SAMPLE = Instant.parse("2024-01-01T00:00:00Z").toEpochMilli();

  private final List<Schedule> schedules;
  private long from;
  private long to;
  private Intervals open = Intervals.of(0, 0);

  /** What the last look ahead has found, for which length, and from when until when it is right. */
  private @Nullable Opening far;

  private long farNeed;
  private long farFrom;
  private long farUntil;

  /**
   * A time in which it is open.
   *
   * @param toMillis when it closes; {@link Long#MAX_VALUE}: not for years
   */
  public record Opening(long fromMillis, long toMillis) {}

  public OpenTimes(List<Schedule> schedules) {
    this.schedules = List.copyOf(schedules);
  }

  /**
   * Returns the first time from an instant on in which it is open long enough: the rest of the one
   * that is under way, or a later one.
   *
   * @param needMillis how long it must be open
   * @return null: there is none within years, and before {@link #NONE_FOR_MILLIS} from now
   */
  public @Nullable Opening next(long nowMillis, long needMillis) {
    if (nowMillis < from || nowMillis + KEPT / 2 > to) {
      from = nowMillis;
      to = nowMillis + KEPT;
      open = of(schedules, from, to);
    }
    Opening near = first(open, nowMillis, needMillis, to, false);
    if (near != null) {
      return near;
    }
    if (needMillis != farNeed || nowMillis < farFrom || nowMillis >= farUntil) {
      far = ahead(nowMillis, needMillis);
      farNeed = needMillis;
      farFrom = nowMillis;
      farUntil = far == null ? nowMillis + NONE_FOR_MILLIS : far.fromMillis();
    }
    return far;
  }

  private @Nullable Opening ahead(long nowMillis, long needMillis) {
    Opening found = null;
    long end = to;
    for (int look = 1; look <= LOOKS && found == null; look++) {
      end = nowMillis + (end - nowMillis) * FAR;
      found = first(of(schedules, nowMillis, end), nowMillis, needMillis, end, look == LOOKS);
    }
    return found;
  }

  /**
   * @param end where the intervals are cut off
   * @param isLast whether what is cut off counts as open for ever
   */
  private static @Nullable Opening first(
      Intervals open, long nowMillis, long needMillis, long end, boolean isLast) {
    for (int i = 0; i < open.count(); i++) {
      long begins = Math.max(open.from(i), nowMillis);
      boolean isCut = open.to(i) == end;
      if (isCut && !isLast) {
        return null;
      }
      if (open.to(i) > nowMillis && open.to(i) - begins >= needMillis) {
        return new Opening(begins, isCut ? Long.MAX_VALUE : open.to(i));
      }
    }
    return null;
  }

  /** Returns whether it is open at an instant. */
  public boolean isOpen(long nowMillis) {
    Opening next = next(nowMillis, 0);
    return next != null && next.fromMillis() == nowMillis;
  }

  /**
   * Returns the longest time for which it is ever open without a break, as far as windows go; 0: it
   * never is. Freezes are not considered.
   */
  public long longestMillis() {
    List<Schedule> windows =
        schedules.stream().map(each -> new Schedule(each.windows(), List.of())).toList();
    long end = SAMPLE + 366 * DAY;
    Intervals year = of(windows, SAMPLE, end);
    long longest = 0;
    for (int i = 0; i < year.count(); i++) {
      longest = Math.max(longest, year.to(i) - year.from(i));
    }
    return longest >= end - SAMPLE ? Long.MAX_VALUE : longest;
  }

  static Intervals of(List<Schedule> schedules, long from, long to) {
    Intervals all = Intervals.of(from, to);
    for (Schedule schedule : schedules) {
      all = all.and(of(schedule, from, to));
    }
    return all;
  }

  private static Intervals of(Schedule schedule, long from, long to) {
    List<long[]> windows = new ArrayList<>();
    for (Window window : schedule.windows()) {
      eachOffset(
          window.zone(), from, to, (begin, end, shift) -> add(window, begin, end, shift, windows));
    }
    Intervals open =
        schedule.windows().isEmpty() ? Intervals.of(from, to) : Intervals.union(windows);
    List<long[]> frozen = new ArrayList<>();
    for (Freeze freeze : schedule.freezes()) {
      long first = millis(freeze.from());
      long after = millis(freeze.to()) + DAY;
      eachOffset(
          schedule.zone(freeze),
          from,
          to,
          (begin, end, shift) ->
              frozen.add(
                  new long[] {Math.max(begin, first - shift), Math.min(end, after - shift)}));
    }
    return open.without(Intervals.union(frozen));
  }

  private static long millis(LocalDate day) {
    return day.toEpochDay() * DAY;
  }

  /** Adds the instants of a window between two instants at which the clock is not changed. */
  private static void add(Window window, long begin, long end, long shift, List<long[]> sink) {
    // One that began on the day before may go on.
    long last = Math.floorDiv(end - 1 + shift, DAY);
    for (long day = Math.floorDiv(begin + shift, DAY) - 1; day <= last; day++) {
      if (window.days().contains(DayOfWeek.of((int) Math.floorMod(day + 3, 7L) + 1))) {
        long midnight = day * DAY - shift;
        sink.add(
            new long[] {
              Math.max(begin, midnight + window.fromMinute() * MINUTE),
              Math.min(end, midnight + window.toMinute() * MINUTE)
            });
      }
    }
  }

  /** Receives a time in which the local wall clock is ahead of UTC by the same milliseconds. */
  private interface Steady {
    void between(long begin, long end, long shift);
  }

  private static void eachOffset(ZoneId zone, long from, long to, Steady sink) {
    ZoneRules rules = zone.getRules();
    long at = from;
    while (at < to) {
      Instant instant = Instant.ofEpochMilli(at);
      ZoneOffsetTransition change = rules.nextTransition(instant);
      long end = change == null ? to : Math.min(to, change.toEpochSecond() * 1000);
      sink.between(at, end, rules.getOffset(instant).getTotalSeconds() * 1000L);
      at = end;
    }
  }
}
