package io.espalier.server.store.jdbc;

import io.espalier.core.event.Event;
import io.espalier.core.json.Json;
import io.espalier.core.json.JsonWriter;
import io.espalier.core.notification.Notification;
import io.espalier.core.outcome.JobStateRecord;
import io.espalier.core.problem.Result;
import io.espalier.core.status.JsonDecoder;
import io.espalier.core.status.store.Brake;
import io.espalier.core.status.store.KeyedAnswer;
import io.espalier.core.status.store.Quarantine;
import io.espalier.core.status.store.RolloutRow;
import io.espalier.core.status.store.StatusStore;
import io.espalier.core.status.store.StoreException;
import java.util.ArrayList;
import java.util.List;

/**
 * Encodes and decodes the JSON values and events that databases store, the same for all databases.
 */
final class JsonCodec {
  /** What an event takes, about. */
  private static final int LENGTH_OF_EVENT = 256;

  private JsonCodec() {}

  /**
   * Decodes a stored value.
   *
   * @throws IllegalArgumentException when the text is not JSON
   */
  static Json parsed(JsonDecoder json, String text) {
    Result<Json> result = json.read(text);
    Json value = result.value();
    if (value == null || result.hasErrors()) {
      throw new IllegalArgumentException("not JSON");
    }
    return JsonDecoder.withoutPositions(value);
  }

  /**
   * Decodes a stored JSON object, such as the data of a task.
   *
   * @throws IllegalArgumentException when the text is not a JSON object
   */
  static Json.Obj object(JsonDecoder json, String text) {
    if (parsed(json, text) instanceof Json.Obj object) {
      return object;
    }
    throw new IllegalArgumentException("its data is not a JSON object");
  }

  /**
   * Decodes the state of a job.
   *
   * @param store name for the message
   * @throws StoreException not retryable, when the text cannot be read: a failed job must not run
   *     again because of that
   */
  static JobStateRecord jobState(String store, JsonDecoder json, String job, String text) {
    try {
      return JobStateRecord.fromJson(job, object(json, text));
    } catch (IllegalArgumentException e) {
      throw new StoreException(
          store + ": the stored state of job " + job + " cannot be read: " + e.getMessage(),
          false,
          e);
    }
  }

  /**
   * Decodes a brake.
   *
   * @param store name for the message
   * @throws StoreException not retryable, when it cannot be read: what is braked must not start
   *     because of that
   */
  static Brake brake(
      String store, JsonDecoder json, String target, String level, String name, String text) {
    try {
      Brake.Key key = new Brake.Key(Brake.Target.ofWord(target), level, name);
      return Brake.fromJson(key, object(json, text));
    } catch (IllegalArgumentException e) {
      throw new StoreException(
          store
              + ": the stored brake on "
              + target
              + " "
              + name
              + " cannot be read: "
              + e.getMessage(),
          false,
          e);
    }
  }

  /**
   * Decodes a quarantine.
   *
   * @param store name for the message
   * @throws StoreException not retryable, when it cannot be read: what is quarantined must not
   *     start because of that
   */
  static Quarantine quarantine(String store, JsonDecoder json, Quarantine.Key key, String text) {
    try {
      return Quarantine.fromJson(key, object(json, text));
    } catch (IllegalArgumentException e) {
      throw new StoreException(
          store + ": the stored quarantine of " + key + " cannot be read: " + e.getMessage(),
          false,
          e);
    }
  }

  /**
   * Decodes a part of a roll-out.
   *
   * @param store name for the message
   * @throws StoreException not retryable, when it cannot be read: later stages must not start
   *     because of that
   */
  static RolloutRow rollout(String store, JsonDecoder json, String job, int part, String text) {
    try {
      return new RolloutRow(job, part, object(json, text));
    } catch (IllegalArgumentException e) {
      throw new StoreException(
          store + ": the stored roll-out of job " + job + " cannot be read: " + e.getMessage(),
          false,
          e);
    }
  }

  /**
   * Decodes a notification.
   *
   * @param store name for the message
   * @throws StoreException not retryable, when it cannot be read
   */
  static Notification notification(
      String store, JsonDecoder json, Notification.Key key, String text) {
    try {
      return Notification.fromJson(key, object(json, text));
    } catch (IllegalArgumentException e) {
      throw new StoreException(
          store + ": the stored notification " + key + " cannot be read: " + e.getMessage(),
          false,
          e);
    }
  }

  /**
   * Decodes an answer to a request with a key.
   *
   * @param store name for the message
   * @throws StoreException not retryable, when it cannot be read
   */
  static KeyedAnswer answer(
      String store, JsonDecoder json, String key, long sinceMillis, String text) {
    try {
      return new KeyedAnswer(key, sinceMillis, object(json, text));
    } catch (IllegalArgumentException e) {
      throw new StoreException(
          store + ": the stored answer " + key + " cannot be read: " + e.getMessage(), false, e);
    }
  }

  /** Encodes events as {@code [[sequence, time, kind, data], ...]}. */
  static String body(List<Event> events) {
    StringBuilder body = new StringBuilder(events.size() * LENGTH_OF_EVENT);
    for (Event event : events) {
      body.append(body.length() == 0 ? "[[" : ",[")
          .append(event.sequence())
          .append(',')
          .append(event.timeMillis())
          .append(',');
      JsonWriter.quote(event.kind(), body);
      JsonWriter.compact(event.data(), body.append(','));
      body.append(']');
    }
    return body.append(events.isEmpty() ? "[]" : "]").toString();
  }

  /**
   * Decodes the events of a body.
   *
   * @throws IllegalArgumentException when the body contains no events
   */
  static List<Event> events(JsonDecoder json, String body) {
    if (!(parsed(json, body) instanceof Json.Arr items)) {
      throw new IllegalArgumentException("not a list of events");
    }
    List<Event> events = new ArrayList<>();
    for (Json item : items.items()) {
      List<Json> parts = item instanceof Json.Arr array ? array.items() : List.of();
      if (parts.size() == 4
          && parts.get(0) instanceof Json.Num sequence
          && parts.get(1) instanceof Json.Num time
          && parts.get(2) instanceof Json.Str kind
          && parts.get(3) instanceof Json.Obj data) {
        events.add(
            new Event(sequence.value().longValue(), time.value().longValue(), kind.value(), data));
      } else {
        throw new IllegalArgumentException("not an event: " + item);
      }
    }
    return events;
  }

  /**
   * Checks that events are in order and newer than what is stored.
   *
   * @return the sequence of the last event
   * @throws IllegalArgumentException when they are not
   */
  static long inOrder(List<Event> events, long newestStored) {
    long newest = newestStored;
    for (Event event : events) {
      if (event.sequence() <= newest) {
        throw new IllegalArgumentException(
            "event " + event.sequence() + " comes after event " + newest);
      }
      newest = event.sequence();
    }
    return newest;
  }

  /**
   * Returns true when a row of events is outside the retention.
   *
   * @param last last sequence in the row
   * @param lastMillis time of the last event in the row
   * @param newest newest sequence of all rows
   */
  static boolean isOld(long last, long lastMillis, long newest, StatusStore.Retention retention) {
    return last <= newest - StatusStore.KEPT_EVENTS
        && (lastMillis < retention.eventsSinceMillis() || last <= newest - retention.events());
  }
}
