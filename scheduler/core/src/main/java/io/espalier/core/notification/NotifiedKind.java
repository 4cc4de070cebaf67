package io.espalier.core.notification;

import static io.espalier.core.notification.Severity.ERROR;
import static io.espalier.core.notification.Severity.INFO;
import static io.espalier.core.notification.Severity.WARNING;

import io.espalier.core.event.EventKind;
import io.espalier.core.json.Json;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * How notifications tell about the events of one kind. A kind that joins is one more line in {@link
 * #ALL}. Immutable.
 */
public final class NotifiedKind {
  private static final Pattern OPTIONAL = Pattern.compile("\\[([^\\[\\]]*)\\]");
  private static final Pattern MEMBER = Pattern.compile("\\{([a-z_]+)\\}");

  /** The kinds of events that notifications tell about, by name. */
  private static final Map<String, NotifiedKind> ALL =
      Map.copyOf(
          byWord(
              new NotifiedKind(
                  EventKind.JOB_STATE,
                  List.of("job"),
                  NotifiedKind::ofState,
                  "job {job} is {to}, it was {from}[: {reason}]"),
              new NotifiedKind(
                  EventKind.SET_STATE,
                  List.of("set"),
                  NotifiedKind::ofState,
                  "set {set} is {to}, it was {from}[: {reason}]"),
              new NotifiedKind(
                  EventKind.DEADLINE_AT_RISK,
                  List.of("job"),
                  data -> WARNING,
                  "the deadline of job {job} is at risk: {reason}"),
              new NotifiedKind(
                  EventKind.DEADLINE_SAFE,
                  List.of("job"),
                  data -> INFO,
                  "the deadline of job {job} is at risk no more[: {reason}]"),
              new NotifiedKind(
                  EventKind.BRAKE_SET,
                  List.of("target", "level", "node", "queue", "set", "job"),
                  data -> WARNING,
                  "brake on {target}[ {level}][ {node}][ {queue}][ {set}][ {job}]: {factor} of its"
                      + " limits is left[, by {author}][: {reason}]"),
              new NotifiedKind(
                  EventKind.BRAKE_RELEASED,
                  List.of("target", "level", "node", "queue", "set", "job"),
                  data -> INFO,
                  "the brake on {target}[ {level}][ {node}][ {queue}][ {set}][ {job}] is"
                      + " released[, by {author}][: {reason}]"),
              new NotifiedKind(
                  EventKind.LIMIT_AT_FLOOR,
                  List.of("resource"),
                  data -> WARNING,
                  "{resource} is at its floor of {floor} on {level} {node}[ and others, {nodes} in"
                      + " all][: {reason}]"),
              new NotifiedKind(
                  EventKind.LIMIT_RECOVERED,
                  List.of("resource"),
                  data -> INFO,
                  "{resource} is above its floor of {floor} again on {level} {node}[ and others,"
                      + " {nodes} in all]"),
              new NotifiedKind(
                  EventKind.WINDOW_CLOSED,
                  List.of("queue", "job"),
                  data -> data.get("left") == null ? null : WARNING,
                  "the window[ of queue {queue}][ of job {job}][ on {nodes} nodes of level {level}]"
                      + " has closed with {left} tasks left: {reason}"),
              new NotifiedKind(
                  EventKind.QUARANTINE_SUGGESTED,
                  List.of("level", "node", "job"),
                  data -> WARNING,
                  "quarantine of {level} {node}[ for job {job}] is suggested: {reason}"),
              new NotifiedKind(
                  EventKind.QUARANTINE_SET,
                  List.of("level", "node", "job"),
                  data -> WARNING,
                  "{level} {node} is quarantined[ for job {job}][, by {author}][: {reason}]"),
              new NotifiedKind(
                  EventKind.QUARANTINE_LIFTED,
                  List.of("level", "node", "job"),
                  data -> INFO,
                  "the quarantine of {level} {node}[ for job {job}] is lifted[, by {author}][:"
                      + " {reason}]"),
              new NotifiedKind(
                  EventKind.ROLLOUT_STAGE_OPENED,
                  List.of("job"),
                  data -> INFO,
                  "stage {stage} of {stages} ({size}) of the roll-out of job {job} begins[, by"
                      + " {author}][: {reason}]"),
              new NotifiedKind(
                  EventKind.ROLLOUT_STAGE_PASSED,
                  List.of("job"),
                  data -> INFO,
                  "stage {stage} of {stages} ({size}) of the roll-out of job {job} has passed"),
              new NotifiedKind(
                  EventKind.ROLLOUT_HALTED,
                  List.of("job"),
                  data -> ERROR,
                  "the roll-out of job {job} is halted in stage {stage} of {stages} ({size})[, by"
                      + " {author}][: {reason}]"),
              new NotifiedKind(
                      EventKind.WORKER_CHANGED,
                      List.of(),
                      data -> text(data, "state").equals("lost") ? WARNING : null,
                      "worker {worker} on host {host} is lost[: {note}]")
                  .inNumbers("workers are lost"),
              new NotifiedKind(
                  EventKind.PROBLEM_RAISED,
                  List.of("source"),
                  data -> ERROR,
                  "{source}: {message}"),
              new NotifiedKind(
                  EventKind.PROBLEM_CLEARED,
                  List.of("source"),
                  data -> INFO,
                  "{source}: the problem is over"),
              new NotifiedKind(
                  EventKind.LEADER_CHANGED,
                  List.of(),
                  data -> WARNING,
                  "scheduler {leader} leads now, in epoch {epoch}")));

  private final EventKind kind;
  private final List<String> subject;
  private final Function<Json.Obj, @Nullable Severity> severity;
  private final String summary;
  private String inNumbers = "";

  /**
   * @param subject members of the data that tell subjects apart
   * @param severity how bad an event is; null: it is not told
   * @param summary a line with {@code {member}}s; what is in brackets is left out when one of its
   *     members is missing
   */
  private NotifiedKind(
      EventKind kind,
      List<String> subject,
      Function<Json.Obj, @Nullable Severity> severity,
      String summary) {
    this.kind = kind;
    this.subject = subject;
    this.severity = severity;
    this.summary = summary;
  }

  /** Merges such events for a moment, because many may come at once. */
  private NotifiedKind inNumbers(String what) {
    inNumbers = what;
    return this;
  }

  private static Map<String, NotifiedKind> byWord(NotifiedKind... kinds) {
    Map<String, NotifiedKind> all = new LinkedHashMap<>();
    for (NotifiedKind each : kinds) {
      all.put(each.kind.word(), each);
    }
    return all;
  }

  /** Returns the rules for a kind of events; null: notifications do not tell about it. */
  public static @Nullable NotifiedKind of(String kind) {
    return ALL.get(kind);
  }

  /** Returns the kinds of events that notifications tell about, in the order of the enum. */
  public static List<EventKind> kinds() {
    List<EventKind> all = new ArrayList<>();
    for (EventKind each : EventKind.values()) {
      if (ALL.containsKey(each.word())) {
        all.add(each);
      }
    }
    return all;
  }

  /** Returns how bad an event is; null: notifications do not tell about it. */
  public @Nullable Severity severity(Json.Obj data) {
    return severity.apply(data);
  }

  /** Returns what an event is about: events of one subject are told in order. */
  public String subject(Json.Obj data) {
    // The end of something has the subject of its beginning.
    StringBuilder out = new StringBuilder(kind.word().replaceFirst("_.*", ""));
    for (String member : subject) {
      String value = text(data, member);
      if (!value.isEmpty()) {
        out.append(':').append(value);
      }
    }
    return out.toString();
  }

  /** Returns whether several events are told as one. */
  public boolean isInNumbers() {
    return !inNumbers.isEmpty();
  }

  /** Returns one line for people about an event, the latest of several that are told as one. */
  public String summary(Json.Obj data, int count) {
    Matcher optional = OPTIONAL.matcher(summary);
    String line =
        filled(
            optional.replaceAll(
                part ->
                    Matcher.quoteReplacement(isWhole(part.group(1), data) ? part.group(1) : "")),
            data);
    return count == 1 ? line : count + " " + inNumbers + ", the latest: " + line;
  }

  private static boolean isWhole(String part, Json.Obj data) {
    return MEMBER.matcher(part).results().noneMatch(each -> text(data, each.group(1)).isEmpty());
  }

  private static String filled(String line, Json.Obj data) {
    return MEMBER
        .matcher(line)
        .replaceAll(each -> Matcher.quoteReplacement(text(data, each.group(1))));
  }

  private static String text(Json.Obj data, String member) {
    Json value = data.get(member);
    return value == null ? "" : value instanceof Json.Str text ? text.value() : value.toString();
  }

  private static Severity ofState(Json.Obj data) {
    return switch (text(data, "to")) {
      case "failed" -> ERROR;
      case "stuck", "invalid", "stopped", "halted" -> WARNING;
      default -> INFO;
    };
  }
}
