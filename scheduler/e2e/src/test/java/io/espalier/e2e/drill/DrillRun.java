package io.espalier.e2e.drill;

import io.espalier.core.json.Json;
import io.espalier.json.JsonReader;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** One job, and what the scheduler says of it. */
final class DrillRun {
  private static final Duration LOOK_EVERY = Duration.ofMillis(50);
  private static final long POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(400);

  private final Api api;
  private final String job;
  private final int tasks;
  private final Observer observer;
  private final Map<String, Long> doneSince = new HashMap<>();
  private final List<String> lost = new ArrayList<>();
  private long nextPoll = System.nanoTime();

  DrillRun(Api api, Path site, String job, int tasks) {
    this.api = api;
    this.job = job;
    this.tasks = tasks;
    this.observer = new Observer(site.resolve("work-" + job), DrillJob.LIMIT_PER_HOST);
  }

  /** Until there is something to be broken. */
  void awaitStart() {
    boolean unused =
        Patience.until(RemoteDrill.START_WITHIN, LOOK_EVERY, () -> observer.length() > 0);
  }

  /** Nodes whose newest invocation lives on a worker, once there are some. */
  Set<String> awaitTasksOn(String worker) {
    Set<String> on = new TreeSet<>();
    boolean unused =
        Patience.until(
            RemoteDrill.START_WITHIN,
            LOOK_EVERY,
            () -> {
              on.addAll(nodesOn(worker));
              return !on.isEmpty();
            });
    return on;
  }

  /** Until none of them lives on a worker any more. */
  void awaitElsewhere(Set<String> nodes, String worker) {
    boolean unused =
        Patience.until(
            RemoteDrill.START_WITHIN,
            LOOK_EVERY,
            () -> nodesOn(worker).stream().noneMatch(nodes::contains));
  }

  private Set<String> nodesOn(String worker) {
    Map<String, Observer.Life> newest = new HashMap<>();
    observer.look(Map.of(), Map.of()).lives().forEach(life -> newest.put(life.node, life));
    Set<String> on = new TreeSet<>();
    newest.forEach(
        (node, life) -> {
          if (life.worker.equals(worker) && !life.ended) {
            on.add(node);
          }
        });
    return on;
  }

  /** Notes which tasks the scheduler says are done, if it answers. */
  void poll() throws IOException, InterruptedException {
    if (System.nanoTime() - nextPoll < 0) {
      return;
    }
    nextPoll = System.nanoTime() + POLL_NANOS;
    Json.@Nullable Obj page = api.get("/api/v1/jobs/" + job + "/tasks?limit=" + DrillJob.TASKS);
    if (page == null || !(page.get("tasks") instanceof Json.Arr listed)) {
      return;
    }
    Set<String> done = new HashSet<>();
    for (Json task : listed.items()) {
      // A node that its source does not name at the moment is not listed.
      if (task instanceof Json.Obj object
          && object.get("node") instanceof Json.Str node
          && object.get("status") instanceof Json.Str status) {
        if (status.value().equals("done")) {
          done.add(node.value());
        } else if (doneSince.containsKey(node.value())) {
          lost.add(node.value() + " was said to be done, and is " + status.value() + " now");
        }
      }
    }
    done.removeAll(doneSince.keySet());
    if (!done.isEmpty()) {
      // Whatever is written from here on was written after the scheduler had said so.
      long written = observer.length();
      done.forEach(node -> doneSince.put(node, written));
    }
  }

  /** Handles a store that was set back: what was done since that copy may be done again. */
  void storeWasSetBack() {
    doneSince.clear();
  }

  Observer.Findings findings() throws IOException, InterruptedException {
    Map<String, String> tokens = new HashMap<>();
    Set<String> unanswered = new TreeSet<>(doneSince.keySet());
    // The scheduler knows of an end a moment before it is stored, and with it the attempt.
    Set<String> unknown = new TreeSet<>(doneSince.keySet());
    long begin = System.nanoTime();
    while (!unknown.isEmpty() && RemoteDrill.since(begin) < RemoteDrill.START_WITHIN.toMillis()) {
      List<String> paths = new ArrayList<>();
      unknown.forEach(node -> paths.add("/api/v1/jobs/" + job + "/tasks/" + node));
      for (String answer : api.get(paths)) {
        if (JsonReader.parse(answer).value() instanceof Json.Obj task
            && task.get("node") instanceof Json.Str node
            && task.get("history") instanceof Json.Obj history
            && history.get("attempts") instanceof Json.Arr attempts) {
          unanswered.remove(node.value());
          String token = doneBy(attempts);
          if (!token.isEmpty()) {
            tokens.put(node.value(), token);
            unknown.remove(node.value());
          }
        }
      }
    }
    // Nobody can say of these by what invocation they were done: not the same as by none.
    unanswered.forEach(
        node -> lost.add(node + ": the scheduler did not answer by what it is done"));
    Map<String, Long> answered = new HashMap<>(doneSince);
    answered.keySet().removeAll(unanswered);
    return observer.look(answered, tokens);
  }

  private static String doneBy(Json.Arr attempts) {
    String done = "";
    for (Json each : attempts.items()) {
      if (each instanceof Json.Obj attempt
          && attempt.get("status") instanceof Json.Str status
          && status.value().equals("done")
          && attempt.get("invocation") instanceof Json.Str token) {
        done = token.value();
      }
    }
    return done;
  }

  /** What is needed to find out why it is not finished. */
  String state() throws IOException, InterruptedException {
    List<String> paths =
        List.of(
            "/api/v1/jobs/" + job + "/tasks?status=incomplete&limit=20",
            "/api/v1/workers",
            "/readyz");
    return String.join("\n", api.get(paths));
  }

  String job() {
    return job;
  }

  int tasks() {
    return tasks;
  }

  /** How many tasks the scheduler has said are done. */
  int done() {
    return doneSince.size();
  }

  /** What was done and is not any more, or of what nothing can be found out. */
  List<String> lost() {
    return lost;
  }
}
