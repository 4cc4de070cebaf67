package io.espalier.core.config.window;

import io.espalier.core.problem.Suggestions;
import java.time.DateTimeException;
import java.time.DayOfWeek;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A time of the week in which tasks may start: {@code Mon-Fri 22:00-05:00 Europe/Berlin}. The local
 * wall clock lies in [from, to), and the day is that on which the window begins.
 *
 * @param days days on which it begins
 * @param fromMinute its first minute, from 0 to 1439 since midnight
 * @param toMinute the minute after its last one, larger than {@code fromMinute}; over 1440 on the
 *     next day
 * @param text as it was written
 */
public record Window(Set<DayOfWeek> days, int fromMinute, int toMinute, ZoneId zone, String text) {
  static final int MINUTES_OF_DAY = 1440;

  /** The maximum number of windows in one text. */
  private static final int MOST = 100;

  private static final int MOST_CHARACTERS = 200;
  private static final int MINUTES_OF_WEEK = 7 * MINUTES_OF_DAY;

  private static final String FORM =
      "expected days, times or both, and a time zone, such as \"Mon-Fri 22:00-05:00"
          + " Europe/Berlin\" or \"Sat-Sun UTC\"";
  private static final List<String> NAMES =
      List.of("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun");
  private static final Pattern SEPARATOR = Pattern.compile(";");
  private static final Pattern WORD = Pattern.compile("\\S+");
  private static final Pattern DAYS =
      Pattern.compile("[A-Za-z]{2,9}(-[A-Za-z]{2,9})?(,[A-Za-z]{2,9}(-[A-Za-z]{2,9})?)*");
  private static final Pattern PART = Pattern.compile("([A-Za-z]+)(?:-([A-Za-z]+))?");
  private static final Pattern TIMES =
      Pattern.compile("([0-9]{1,2}):([0-9]{2})-([0-9]{1,2}):([0-9]{2})");

  private static final Pattern ABBREVIATION = Pattern.compile("[A-Z]{2,4}");

  public Window {
    days = Set.copyOf(days);
  }

  /**
   * Reads a window.
   *
   * @throws WindowSyntaxException when the text is none
   */
  public static Window parse(String text) throws WindowSyntaxException {
    if (text.length() > MOST_CHARACTERS) {
      throw new WindowSyntaxException(
          "the window has more than " + MOST_CHARACTERS + " characters", null);
    }
    List<String> words = new ArrayList<>();
    Matcher word = WORD.matcher(text);
    while (word.find()) {
      words.add(word.group());
    }
    if (words.isEmpty() || words.size() > 3) {
      throw new WindowSyntaxException(FORM, null);
    }
    int next = 0;
    Set<DayOfWeek> days = EnumSet.allOf(DayOfWeek.class);
    boolean hasDays = isDays(words.get(0));
    if (hasDays) {
      days = days(words.get(0));
      next++;
    }
    Matcher times = TIMES.matcher(next < words.size() ? words.get(next) : "");
    int from = 0;
    int to = MINUTES_OF_DAY;
    boolean hasTimes = times.matches();
    if (hasTimes) {
      from = minutes(times, 1);
      to = minutes(times, 3);
      checkTimes(times, from, to);
      if (from == to) {
        throw new WindowSyntaxException(
            "the window never opens, because it ends when it begins",
            "00:00-24:00 is the whole day");
      }
      to += to < from ? MINUTES_OF_DAY : 0;
      next++;
    }
    if (next == words.size()) {
      throw new WindowSyntaxException(
          "the time zone is missing", "add one, such as \"" + text.strip() + " Europe/Berlin\"");
    }
    if (next == 0 || next != words.size() - 1) {
      throw new WindowSyntaxException(FORM, null);
    }
    return new Window(days, from, to, zone(words.get(next)), text);
  }

  /**
   * Reads windows that are separated by {@code ;}.
   *
   * @throws WindowSyntaxException when one of them is none
   */
  public static List<Window> parseAll(String text) throws WindowSyntaxException {
    List<Window> windows = new ArrayList<>();
    for (String each : SEPARATOR.splitAsStream(text).limit(MOST + 1).toList()) {
      windows.add(parse(each.strip()));
    }
    if (windows.size() > MOST) {
      throw new WindowSyntaxException("there are more than " + MOST + " windows", null);
    }
    return windows;
  }

  /** A word is taken for days if each of its parts is one, or nearly one. */
  private static boolean isDays(String word) {
    if (!DAYS.matcher(word).matches()) {
      return false;
    }
    Matcher part = PART.matcher(word);
    return part.find()
        && (day(part.group(1)) != null || Suggestions.closest(part.group(1), NAMES, 1) != null)
        && !ZoneId.getAvailableZoneIds().contains(word);
  }

  private static @Nullable DayOfWeek day(String name) {
    for (DayOfWeek day : DayOfWeek.values()) {
      String known = NAMES.get(day.getValue() - 1);
      if (name.equalsIgnoreCase(known) || name.equalsIgnoreCase(day.name())) {
        return day;
      }
    }
    return null;
  }

  private static DayOfWeek knownDay(String name) throws WindowSyntaxException {
    DayOfWeek day = day(name);
    if (day == null) {
      throw new WindowSyntaxException(
          "unknown day \"" + name + "\"", Suggestions.hint(name, NAMES));
    }
    return day;
  }

  private static Set<DayOfWeek> days(String word) throws WindowSyntaxException {
    Set<DayOfWeek> days = EnumSet.noneOf(DayOfWeek.class);
    Matcher part = PART.matcher(word);
    while (part.find()) {
      DayOfWeek day = knownDay(part.group(1));
      DayOfWeek last = part.group(2) == null ? day : knownDay(part.group(2));
      days.add(day);
      while (day != last) {
        day = day.plus(1);
        days.add(day);
      }
    }
    return days;
  }

  /** Returns the minutes since midnight; too many when it is no time. */
  private static int minutes(Matcher times, int group) {
    int hour = Integer.parseInt(times.group(group));
    int minute = Integer.parseInt(times.group(group + 1));
    return minute > 59 ? Integer.MAX_VALUE : hour * 60 + minute;
  }

  private static void checkTimes(Matcher times, int from, int to) throws WindowSyntaxException {
    List<String> wrong = new ArrayList<>();
    if (from >= MINUTES_OF_DAY) {
      wrong.add("no window begins at " + times.group(1) + ":" + times.group(2));
    }
    if (to > MINUTES_OF_DAY) {
      wrong.add("no window ends at " + times.group(3) + ":" + times.group(4));
    }
    if (!wrong.isEmpty()) {
      throw new WindowSyntaxException(
          String.join(", and ", wrong),
          "a window begins from 00:00 to 23:59 and ends from 00:00 to 24:00");
    }
  }

  /**
   * Returns the time zone of a name, such as {@code Europe/Berlin}, {@code UTC} or {@code +02:00}.
   *
   * @throws WindowSyntaxException when there is none
   */
  public static ZoneId zone(String name) throws WindowSyntaxException {
    try {
      return ZoneId.of(name);
    } catch (DateTimeException e) {
      throw new WindowSyntaxException("unknown time zone \"" + name + "\"", zoneHint(name));
    }
  }

  private static String zoneHint(String name) {
    if (ABBREVIATION.matcher(name).matches()) {
      return "abbreviations are ambiguous: write a place, such as \"America/New_York\"";
    }
    String near = Suggestions.didYouMean(name, ZoneId.getAvailableZoneIds());
    return near == null ? "such as \"Europe/Berlin\" or \"UTC\"" : near;
  }

  /** Returns whether some time of the week lies in both windows; only known in the same zone. */
  public boolean overlaps(Window other) {
    if (!zone.equals(other.zone)) {
      return false;
    }
    for (DayOfWeek day : days) {
      for (DayOfWeek its : other.days) {
        int from = day.getValue() * MINUTES_OF_DAY + fromMinute;
        int itsFrom = its.getValue() * MINUTES_OF_DAY + other.fromMinute;
        int after = Math.floorMod(itsFrom - from, MINUTES_OF_WEEK);
        int before = Math.floorMod(from - itsFrom, MINUTES_OF_WEEK);
        if (after < toMinute - fromMinute || before < other.toMinute - other.fromMinute) {
          return true;
        }
      }
    }
    return false;
  }
}
