package io.espalier.nodes.cron;

import java.time.LocalDateTime;
import org.jspecify.annotations.Nullable;

/**
 * The minutes that all selectors choose. A day is chosen by its number or by its day of the week.
 */
record FieldLabels(
    Selector minute,
    Selector hour,
    Selector dayOfMonth,
    Selector month,
    Selector dayOfWeek,
    Selector year)
    implements LocalMinutes {
  @Override
  public @Nullable LocalDateTime next(LocalDateTime from) {
    LocalDateTime t = from;
    while (t.getYear() <= LAST_YEAR) {
      Selector.Match y = year.next(t.getYear());
      if (y.carry()) {
        return null;
      }
      if (y.value() != t.getYear()) {
        t = LocalDateTime.of((int) y.value(), 1, 1, 0, 0);
      }
      Selector.Match m = month.next(t.getMonthValue());
      if (m.carry()) {
        t = LocalDateTime.of(t.getYear() + 1, 1, 1, 0, 0);
        continue;
      }
      if (m.value() != t.getMonthValue()) {
        t = LocalDateTime.of(t.getYear(), (int) m.value(), 1, 0, 0);
      }
      int day = day(t);
      if (day == 0) {
        t = firstOfMonth(t).plusMonths(1);
        continue;
      }
      if (day != t.getDayOfMonth()) {
        t = firstOfMonth(t).withDayOfMonth(day);
      }
      Selector.Match h = hour.next(t.getHour());
      if (h.carry()) {
        t = t.toLocalDate().plusDays(1).atStartOfDay();
        continue;
      }
      if (h.value() != t.getHour()) {
        t = t.toLocalDate().atTime((int) h.value(), 0);
      }
      Selector.Match min = minute.next(t.getMinute());
      if (min.carry()) {
        t = t.withMinute(0).plusHours(1);
        continue;
      }
      return t.withMinute((int) min.value());
    }
    return null;
  }

  /** Returns the first chosen day of t's month that is not before t's; 0 when there is none. */
  private int day(LocalDateTime t) {
    int last = t.toLocalDate().lengthOfMonth();
    int day = t.getDayOfMonth();
    while (day <= last) {
      Selector.Match chosen = dayOfMonth.next(day);
      if (chosen.carry() || chosen.value() > last) {
        return 0;
      }
      day = (int) chosen.value();
      // Sunday is 1.
      int weekday = t.withDayOfMonth(day).getDayOfWeek().getValue() % 7 + 1;
      Selector.Match wanted = dayOfWeek.next(weekday);
      int ahead = (int) (wanted.value() - weekday) + (wanted.carry() ? 7 : 0);
      if (ahead == 0) {
        return day;
      }
      day += ahead;
    }
    return 0;
  }

  private static LocalDateTime firstOfMonth(LocalDateTime t) {
    return LocalDateTime.of(t.getYear(), t.getMonth(), 1, 0, 0);
  }

  @Override
  public String toString() {
    return minute + " " + hour + " " + dayOfMonth + " " + month + " " + dayOfWeek + " " + year;
  }
}
