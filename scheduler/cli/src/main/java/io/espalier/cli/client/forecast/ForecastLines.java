package io.espalier.cli.client.forecast;

import io.espalier.cli.term.HumanFormat;
import io.espalier.cli.term.JsonFields;
import io.espalier.cli.term.Table;
import io.espalier.core.json.Json;
import java.util.Locale;

/** The forecast of a plan as text. */
public final class ForecastLines {
  private ForecastLines() {}

  /** Returns the most slots in use at once, now and then. */
  public static Table peaks(Json.Obj forecast) {
    Table table = new Table("PEAK USE", ">NOW", ">THEN");
    for (Json.Obj peak : JsonFields.objects(forecast, "peaks")) {
      table.row(
          JsonFields.text(peak, "level") + "." + JsonFields.text(peak, "resource"),
          use(JsonFields.object(peak, "now")),
          use(JsonFields.object(peak, "then")));
    }
    return table;
  }

  private static String use(Json.Obj use) {
    return use.isEmpty()
        ? "-"
        : String.format(
            Locale.ROOT,
            "%,d of %,d",
            JsonFields.number(use, "used"),
            JsonFields.number(use, "slots"));
  }

  /** Returns when jobs end, now and then. */
  public static Table ends(Json.Obj forecast) {
    Table table =
        new Table("JOB", ">P50 NOW", ">P90 NOW", ">P50", ">P90", ">CHANGE", ">NEVER NOW", ">NEVER");
    for (Json.Obj end : JsonFields.objects(forecast, "ends")) {
      Json.Obj now = JsonFields.object(end, "now");
      Json.Obj then = JsonFields.object(end, "then");
      table.row(
          JsonFields.text(end, "job"),
          span(now, "p50_seconds"),
          span(now, "p90_seconds"),
          span(then, "p50_seconds"),
          span(then, "p90_seconds"),
          change(now, then),
          never(now),
          never(then));
    }
    return table;
  }

  private static String span(Json.Obj eta, String key) {
    return eta.get(key) instanceof Json.Num seconds ? HumanFormat.duration(millis(seconds)) : "-";
  }

  private static String never(Json.Obj eta) {
    long never = JsonFields.number(eta, "never");
    return never == 0 ? "" : String.format(Locale.ROOT, "%,d", never);
  }

  private static String change(Json.Obj now, Json.Obj then) {
    return now.get("p50_seconds") instanceof Json.Num before
            && then.get("p50_seconds") instanceof Json.Num after
            && !before.equals(after)
        ? change(millis(after) - millis(before))
        : "";
  }

  /** Formats how much later something is. */
  static String change(long millis) {
    return (millis < 0 ? "-" : "+") + HumanFormat.duration(Math.abs(millis));
  }

  private static long millis(Json.Num seconds) {
    return Math.round(seconds.value().doubleValue() * 1000);
  }

  /** Returns when the last of the jobs ends, now and then; empty where that is not known. */
  public static String lastEnd(Json.Obj forecast) {
    long now = 0;
    long then = 0;
    for (Json.Obj end : JsonFields.objects(forecast, "ends")) {
      now = later(now, JsonFields.object(end, "now"));
      then = later(then, JsonFields.object(end, "then"));
    }
    return now < 0 || then < 0 || now + then == 0
        ? ""
        : "the last job ends in about "
            + HumanFormat.duration(now)
            + " now, in about "
            + HumanFormat.duration(then)
            + " then";
  }

  /** Returns the later of two ends; -1: one of them is not known. */
  private static long later(long millis, Json.Obj eta) {
    if (millis < 0 || (!eta.isEmpty() && !(eta.get("p50_seconds") instanceof Json.Num))) {
      return -1;
    }
    return eta.get("p50_seconds") instanceof Json.Num seconds
        ? Math.max(millis, millis(seconds))
        : millis;
  }
}
