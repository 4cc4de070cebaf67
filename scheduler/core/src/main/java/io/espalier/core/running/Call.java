package io.espalier.core.running;

import io.espalier.core.config.task.CallSpec;
import io.espalier.core.json.Json;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.UUID;

/**
 * The call of one invocation: what its job says, and the values of the placeholders. A stored
 * running task has it, so that a successor can ask about it although the configuration has changed.
 *
 * @param names what placeholders stand for, without braces: {@code node}, {@code job}, each level
 *     of the path, {@code invocation}, {@code token}, {@code attempt}, {@code key}, {@code
 *     callback}
 * @param limits its time limits
 */
public record Call(CallSpec spec, Map<String, String> names, InvocationLimits limits) {
  private static final String CALLBACK = "callback_base_url";
  private static final List<String> LIMITS = List.of("timeout_ms", "no_output_ms", "deadline_ms");

  public Call {
    names = Map.copyOf(names);
  }

  /**
   * Creates the call of an invocation.
   *
   * @param created when the job was created, epoch seconds: its successor of the same name has
   *     other keys
   * @param path names from the instance down to the task's node, and the names of their levels
   */
  public static Call of(
      CallSpec spec,
      String job,
      long created,
      Invocation invocation,
      int attempt,
      List<String> levels,
      List<String> path,
      InvocationLimits limits) {
    Map<String, String> names = new LinkedHashMap<>();
    for (int i = 0; i < path.size(); i++) {
      names.put(levels.get(i), path.get(i));
    }
    String node = path.get(path.size() - 1);
    names.put(CallSpec.JOB, job);
    names.put(CallSpec.NODE, node);
    names.put(CallSpec.ATTEMPT, Integer.toString(attempt));
    names.put(CallSpec.TOKEN, invocation.token());
    names.put(CallSpec.KEY, uuid(job, Long.toString(created), node));
    names.put(CallSpec.INVOCATION, id(job, node, invocation));
    return new Call(spec, names, limits);
  }

  /** The same call as a step of its task, which is another one to its service than other steps. */
  public Call ofStep(String step) {
    return withName(CallSpec.KEY, uuid(name(CallSpec.KEY), step));
  }

  /** Returns how services know an invocation. */
  public static String id(String job, String node, Invocation invocation) {
    return uuid(job, node, invocation.token(), Long.toString(invocation.startMillis()));
  }

  /** Returns the URL at which its service may report its end; empty: it reports nothing. */
  public String callback() {
    // A level may have the name of the placeholder; then it means a node.
    String url = spec.callback().isEmpty() ? "" : name(CallSpec.CALLBACK);
    return url.startsWith("http://") || url.startsWith("https://") ? url : "";
  }

  /** A copy with the value of one more placeholder. */
  public Call withName(String placeholder, String value) {
    Map<String, String> more = new LinkedHashMap<>(names);
    more.put(placeholder, value);
    return new Call(spec, more, limits);
  }

  private static long number(Json.Obj json, String key) {
    return json.get(key) instanceof Json.Num number ? number.value().longValue() : 0;
  }

  private static String uuid(String... parts) {
    byte[] name = String.join("\0", parts).getBytes(StandardCharsets.UTF_8);
    return UUID.nameUUIDFromBytes(name).toString();
  }

  /** Without the URL of its callback, which is secret. */
  @Override
  public String toString() {
    Map<String, String> shown = new TreeMap<>(names);
    shown.remove(CallSpec.CALLBACK);
    return "Call[spec=" + spec + ", names=" + shown + ", limits=" + limits + "]";
  }

  /** Returns the value of a placeholder; empty when there is none of that name. */
  public String name(String placeholder) {
    return names.getOrDefault(placeholder, "");
  }

  /** The call as an object, for stores and the wire. */
  public Json.Obj json() {
    Json.Builder values = Json.object();
    new TreeMap<>(names).forEach((name, value) -> values.put(name, value));
    Json.Builder json = Json.object();
    spec.callback().ifPresent(callback -> json.put(CALLBACK, callback.baseUrl()));
    return json.put("executor", spec.executor())
        .put("options", spec.options())
        .put("idempotent", spec.idempotent())
        .put("unknown_hold_ms", spec.unknownHold().toMillis())
        .put("names", values.build())
        .put(LIMITS.get(0), limits.timeoutMillis())
        .put(LIMITS.get(1), limits.noOutputMillis())
        .put(LIMITS.get(2), limits.deadlineMillis())
        .build();
  }

  /**
   * The call of an object that {@link #json} has made.
   *
   * @throws IllegalArgumentException when it is not one
   */
  public static Call of(Json.Obj json) {
    if (json.get("executor") instanceof Json.Str executor
        && json.get("options") instanceof Json.Obj options
        && json.get("idempotent") instanceof Json.Bool idempotent
        && json.get("unknown_hold_ms") instanceof Json.Num hold
        && json.get("names") instanceof Json.Obj values) {
      Map<String, String> names = new LinkedHashMap<>();
      values
          .members()
          .forEach(
              (name, value) -> {
                if (!(value instanceof Json.Str text)) {
                  throw new IllegalArgumentException("the placeholder " + name + " is no text");
                }
                names.put(name, text.value());
              });
      return new Call(
          new CallSpec(
              executor.value(),
              options,
              idempotent.value(),
              Duration.ofMillis(Math.max(0, hold.value().longValue())),
              json.get(CALLBACK) instanceof Json.Str base
                  ? Optional.of(new CallSpec.Callback(base.value()))
                  : Optional.empty()),
          names,
          new InvocationLimits(
              number(json, LIMITS.get(0)),
              number(json, LIMITS.get(1)),
              number(json, LIMITS.get(2))));
    }
    throw new IllegalArgumentException("the call of a task cannot be read");
  }
}
