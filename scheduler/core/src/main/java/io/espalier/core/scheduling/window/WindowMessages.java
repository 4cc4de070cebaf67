package io.espalier.core.scheduling.window;

import io.espalier.core.config.window.Freeze;
import io.espalier.core.config.window.Schedule;
import java.time.Instant;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.Locale;

/** Tells people of windows. */
public final class WindowMessages {
  private static final long SIX_DAYS = 6L * 24 * 60 * 60 * 1000;
  private static final DateTimeFormatter SOON =
      DateTimeFormatter.ofPattern("EEE HH:mm zzz", Locale.ENGLISH);
  private static final DateTimeFormatter LATER =
      DateTimeFormatter.ofPattern("EEE yyyy-MM-dd HH:mm zzz", Locale.ENGLISH);

  private WindowMessages() {}

  /** Returns an instant in the zone of a schedule; empty for {@link Long#MAX_VALUE}. */
  public static String instant(Schedule schedule, long millis, long nowMillis) {
    if (millis == Long.MAX_VALUE) {
      return "";
    }
    ZonedDateTime time = Instant.ofEpochMilli(millis).atZone(schedule.zone());
    return (millis - nowMillis < SIX_DAYS ? SOON : LATER).format(time);
  }

  /** Returns the next change of a schedule. */
  public static String of(
      String whose, Schedule schedule, boolean open, long changesMillis, long nowMillis) {
    String instant = instant(schedule, changesMillis, nowMillis);
    return open
        ? whose + " may start tasks" + (instant.isEmpty() ? "" : " until " + instant)
        : closed(whose, schedule, changesMillis, nowMillis);
  }

  /**
   * Returns why nothing starts while a schedule is closed.
   *
   * @param whose whose schedule it is
   * @param opensMillis when tasks may start again; {@link Long#MAX_VALUE}: never
   */
  public static String closed(String whose, Schedule schedule, long opensMillis, long nowMillis) {
    String opens = instant(schedule, opensMillis, nowMillis);
    String then = opens.isEmpty() ? " does not open for years" : " opens " + opens;
    Freeze freeze = schedule.freezeAt(nowMillis);
    return freeze == null
        ? "window of " + whose + then
        : "freeze of "
            + whose
            + " until "
            + freeze.to()
            + (freeze.reason().isEmpty() ? "" : " (" + freeze.reason() + ")")
            + ";"
            + then;
  }

  /**
   * Returns why no task of a job starts although a schedule is open.
   *
   * @param takesMillis how long a task must be able to run before the window closes
   * @param opensMillis when it opens for as long; {@link Long#MAX_VALUE}: never
   */
  public static String tooShort(
      Schedule schedule, long closesMillis, long takesMillis, long opensMillis, long nowMillis) {
    String opens = instant(schedule, opensMillis, nowMillis);
    return "closes "
        + instant(schedule, closesMillis, nowMillis)
        + ", and a task takes up to "
        + minutes(takesMillis)
        + (opens.isEmpty() ? "; no later one is open as long" : "; the next opens " + opens);
  }

  public static String minutes(long millis) {
    return (millis + 59_999) / 60_000 + " min";
  }
}
