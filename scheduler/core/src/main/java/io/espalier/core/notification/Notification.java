package io.espalier.core.notification;

import io.espalier.core.json.Json;
import java.util.List;

/**
 * What one notifier is to tell about an event, or about several that were merged. Immutable.
 *
 * @param notifier name of the notifier
 * @param sequence sequence of the first event, which orders the notifications of a notifier
 * @param id the same whenever it is sent, and of no other notification of the store
 * @param kind kind of the latest event
 * @param subject what it is about: notifications of one subject are sent in order
 * @param summary one line for people
 * @param timeMillis when the latest event happened, epoch milliseconds
 * @param count number of events
 * @param about job, set, queue and owner, as far as the latest event is about a job
 * @param data data of the latest event
 */
public record Notification(
    String notifier,
    long sequence,
    String id,
    String kind,
    Severity severity,
    String subject,
    String summary,
    long timeMillis,
    int count,
    Json.Obj about,
    Json.Obj data) {
  /** The members of {@link #about}. */
  public static final List<String> ABOUT = List.of("job", "set", "queue", "owner");

  /** What tells a stored notification from all others. */
  public record Key(String notifier, long sequence) {}

  public Key key() {
    return new Key(notifier, sequence);
  }

  /**
   * Returns this notification with a later one merged into it.
   *
   * @param newSummary summary of both
   */
  public Notification merged(Notification later, String newSummary) {
    return new Notification(
        notifier,
        sequence,
        id,
        later.kind,
        severity.compareTo(later.severity) < 0 ? later.severity : severity,
        subject,
        newSummary,
        later.timeMillis,
        count + later.count,
        later.about,
        later.data);
  }

  /** Returns the same notification about something else. */
  public Notification about(String newSubject, String newSummary) {
    return new Notification(
        notifier,
        sequence,
        id,
        kind,
        severity,
        newSubject,
        newSummary,
        timeMillis,
        count,
        about,
        data);
  }

  /** Returns the form for stores and for receivers, without the name of the notifier. */
  public Json.Obj toJson() {
    Json.Builder out =
        Json.object()
            .put("id", id)
            .put("kind", kind)
            .put("severity", severity.word())
            .put("subject", subject)
            .put("summary", summary)
            .put("time_ms", timeMillis)
            .put("count", count);
    about.members().forEach(out::put);
    return out.put("data", data).build();
  }

  /**
   * Parses the result of {@link #toJson}.
   *
   * @throws IllegalArgumentException for anything else
   */
  public static Notification fromJson(Key key, Json.Obj json) {
    Json.Builder about = Json.object();
    ABOUT.forEach(name -> about.putIfPresent(name, json.get(name)));
    if (!(json.get("data") instanceof Json.Obj data)) {
      throw new IllegalArgumentException("it has no data");
    }
    return new Notification(
        key.notifier(),
        key.sequence(),
        text(json, "id"),
        text(json, "kind"),
        Severity.ofWord(text(json, "severity")),
        text(json, "subject"),
        text(json, "summary"),
        number(json, "time_ms"),
        Math.toIntExact(number(json, "count")),
        about.build(),
        data);
  }

  private static String text(Json.Obj json, String name) {
    if (json.get(name) instanceof Json.Str text) {
      return text.value();
    }
    throw new IllegalArgumentException("it has no " + name);
  }

  private static long number(Json.Obj json, String name) {
    if (json.get(name) instanceof Json.Num number) {
      return number.value().longValue();
    }
    throw new IllegalArgumentException("it has no " + name);
  }
}
