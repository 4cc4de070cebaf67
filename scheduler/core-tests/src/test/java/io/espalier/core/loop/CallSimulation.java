package io.espalier.core.loop;

import io.espalier.core.api.Callback;
import io.espalier.core.api.Command;
import io.espalier.core.api.RefusedException;
import io.espalier.core.call.CallAnswer;
import io.espalier.core.call.CallClient;
import io.espalier.core.call.CallCourse;
import io.espalier.core.config.task.CallSpec;
import io.espalier.core.json.Json;
import io.espalier.core.running.Call;
import io.espalier.core.running.LaunchSpec;
import io.espalier.core.running.StopReason;
import io.espalier.core.running.TaskResult;
import io.espalier.core.running.WorkerInfo;
import io.espalier.core.running.WorkerRef;
import io.espalier.core.scheduling.spi.SplitMix64;
import io.espalier.core.status.TaskKey;
import io.espalier.core.status.TaskStatus;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * One life of tasks that call services: the production loop and the production course of a call,
 * over simulated time, with services that are slow, lose requests and answers, forget, and call
 * back twice, late or with another outcome, with workers that are lost, schedulers that die, and
 * people who kill. One seed decides everything. Faults stop after a while, and all must end.
 */
final class CallSimulation {
  private static final long FAULTS_MILLIS = 400_000;
  private static final long AT_MOST_MILLIS = 4_000_000;
  private static final String ONLY = "only";
  private static final String CONFIG =
      """
      {"bistro_settings": {
         "nodes": {"levels": ["host"], "node_sources": [
           {"source": "range_label", "prefs": {"parent_level": "instance", "start": 1, "end": 4, "format": "h{i}"}}]},
         "resources": {}, "backoff": [1, 5, "repeat"]},
       "bistro_job->poll": {"owner": "o", "call": {"http": {"url": "http://h"}, "unknown_hold_sec": 60}},
       "bistro_job->proves": {"owner": "o", "call": {"http": {"url": "http://h"}, "unknown_hold_sec": 60}},
       "bistro_job->again": {"owner": "o", "call": {"http": {"url": "http://h"}, "unknown_hold_sec": 60,
         "idempotent": true}},
       "bistro_job->back": {"owner": "o", "call": {"http": {"url": "http://h"}, "unknown_hold_sec": 60,
         "callback": {"base_url": "http://s"}}},
       "bistro_job->only": {"owner": "o", "call": {"http": {"url": "http://h"}, "unknown_hold_sec": 60,
         "callback": {"base_url": "http://s"}}},
       "bistro_job->steps": {"owner": "o", "steps": [
         {"name": "one", "call": {"http": {"url": "http://h"}, "unknown_hold_sec": 60,
           "callback": {"base_url": "http://s"}}},
         {"name": "two", "call": {"http": {"url": "http://h"}, "unknown_hold_sec": 60}}]}}
      """;

  /** What must hold. */
  enum Property {
    /** No invocation is carried out twice. */
    SENT_ONCE,
    /** No two invocations of a task are carried out at the same time. */
    NEVER_TWICE_AT_ONCE,
    /** What ended with an unknown outcome is not started again. */
    UNKNOWN_IS_FINAL,
    /** An invocation has one end. */
    ONE_END,
    /** When nothing fails any more, every task ends. */
    EVERYTHING_ENDS
  }

  /** A mistake, at a seam of the simulation. */
  enum Mistake {
    NONE,
    /** Who takes a call over sends it again. */
    ADOPTED_IS_SENT,
    /** The loss of a worker counts as a failure of its calls. */
    LOST_IS_FAILED,
    /** A lost answer counts as a refusal. */
    UNKNOWN_IS_REFUSED,
    /** That a service does not know a call counts as a proof, although it may still come. */
    ABSENCE_PROVES,
    /** A service that reports about one invocation ends the one that is alive. */
    REPORT_FOR_ANY,
    /** A call that waits for its callback has no time limit. */
    WAITS_FOR_EVER
  }

  /** What can go wrong; all of it must happen in some life. */
  enum Trouble {
    REQUEST_LOST,
    REQUEST_LATE,
    ANSWER_LOST,
    REFUSED,
    FORGOTTEN,
    REPORTED,
    REPORTED_TWICE,
    REPORTED_OTHERWISE,
    WORKER_LOST,
    SCHEDULER_LOST,
    KILLED,
    OUTCOME_UNKNOWN
  }

  /** A property that does not hold. */
  static final class Violation extends RuntimeException {
    private static final long serialVersionUID = 1;
    final Property property;

    Violation(Property property, String what) {
      super(property + ": " + what);
      this.property = property;
    }
  }

  private record Event(long at, long number, Runnable action) {}

  /** Work of a service. */
  private static final class Work {
    final TaskKey task;
    boolean runs = true;
    boolean isForgotten;
    String status = "done";

    Work(TaskKey task) {
      this.task = task;
    }
  }

  /** A call that somebody follows. */
  private static final class Followed {
    final LaunchSpec launch;
    final Call call;
    final CallCourse course;
    final boolean byWorker;

    Followed(LaunchSpec launch, CallCourse course, boolean byWorker) {
      this.launch = launch;
      this.call = Objects.requireNonNull(launch.call());
      this.course = course;
      this.byWorker = byWorker;
    }

    String id() {
      return call.name(CallSpec.INVOCATION);
    }
  }

  private final Mistake mistake;
  private final SplitMix64 random;
  private final LoopWorld world = new LoopWorld();
  private final PriorityQueue<Event> events =
      new PriorityQueue<>(
          (a, b) ->
              a.at() == b.at()
                  ? Long.compare(a.number(), b.number())
                  : Long.compare(a.at(), b.at()));
  private final Map<String, Followed> followed = new LinkedHashMap<>();
  private final Map<String, Work> works = new HashMap<>();
  private final Map<String, Work> byKey = new HashMap<>();
  private final Set<String> refused = new HashSet<>();
  private final Set<String> begun = new HashSet<>();
  private final Set<TaskKey> unknown = new HashSet<>();
  private final Set<String> ended = new HashSet<>();
  private final EnumMap<Trouble, Integer> happened = new EnumMap<>(Trouble.class);
  private final long end;
  private long number;
  private int seenLaunches;
  private int seenAdopted;
  private int seenLetGo;
  private int seenKills;
  private int seenAttempts;

  CallSimulation(long seed, Mistake mistake) {
    this.mistake = mistake;
    this.random = new SplitMix64(seed * 7_919);
    world.isRemote = true;
    begin();
    end = world.now + FAULTS_MILLIS;
  }

  /** Configures a scheduler, and gives it a worker on which all may run. */
  private void begin() {
    world.post(new LoopInput.Workers(List.of(WorkerInfo.of(new WorkerRef("w1", 1), "w1").build())));
    world.configure(CONFIG);
  }

  /**
   * Lives the life.
   *
   * @return how often each kind of trouble happened
   * @throws Violation when a property does not hold
   */
  Map<Trouble, Integer> live() {
    look();
    at(20_000 + below(60_000), this::trouble);
    while (!events.isEmpty()) {
      Event next = events.remove();
      if (next.at() > world.now) {
        world.now = next.at();
      }
      next.action().run();
      world.settle();
      look();
      if (world.now > end + AT_MOST_MILLIS) {
        break;
      }
      if (events.isEmpty() && !allEnded()) {
        // Only the loop waits, for a back-off.
        at(5_000, () -> {});
        if (world.now > end + AT_MOST_MILLIS / 2) {
          break;
        }
      }
    }
    if (!allEnded()) {
      throw new Violation(Property.EVERYTHING_ENDS, world.now - end + " ms: " + left());
    }
    return happened;
  }

  /** What has not ended, and who follows it. */
  private List<String> left() {
    return world.stored.values().stream()
        .filter(row -> !row.status().isFinal())
        .map(
            row -> {
              Call call = row.call();
              String id = call == null ? "" : call.name(CallSpec.INVOCATION);
              Followed by = followed.get(id);
              return row.key()
                  + " "
                  + row.status().label().word()
                  + (by == null
                      ? ""
                      : ", next at " + by.course.nextMillis() + " " + by.course.trouble());
            })
        .toList();
  }

  private boolean allEnded() {
    return world.stored.size() == 24
        && world.stored.values().stream().allMatch(row -> row.status().isFinal());
  }

  // ---- chance

  private long below(long bound) {
    return (long) (random.fraction() * bound);
  }

  private boolean happens(double chance, Trouble trouble) {
    if (world.now >= end || random.fraction() >= chance) {
      return false;
    }
    happened.merge(trouble, 1, Integer::sum);
    return true;
  }

  private void at(long delay, Runnable action) {
    events.add(new Event(world.now + delay, ++number, action));
  }

  // ---- what the loop has done

  private void look() {
    for (; seenLaunches < world.launches.size(); seenLaunches++) {
      LaunchSpec launch = world.launches.get(seenLaunches);
      if (unknown.contains(new TaskKey(launch.job(), launch.node()))) {
        throw new Violation(Property.UNKNOWN_IS_FINAL, launch.job() + " on " + launch.node());
      }
      send(launch);
    }
    for (; seenAdopted < world.adopted.size(); seenAdopted++) {
      LaunchSpec launch = world.adopted.get(seenAdopted);
      if (mistake == Mistake.ADOPTED_IS_SENT) {
        send(launch);
      } else {
        Call call = Objects.requireNonNull(launch.call());
        follow(new Followed(launch, CallCourse.adopted(call, client, world.now), false));
      }
    }
    for (; seenLetGo < world.letGo.size(); seenLetGo++) {
      var invocation = world.letGo.get(seenLetGo);
      for (Followed each : List.copyOf(followed.values())) {
        if (each.launch.invocation().equals(invocation)) {
          each.course.letGo("its service has reported its end");
          advance(each);
        }
      }
    }
    for (; seenKills < world.kills.size(); seenKills++) {
      String kill = world.kills.get(seenKills);
      for (Followed each : List.copyOf(followed.values())) {
        if (kill.startsWith(each.launch.job() + "/" + each.launch.node() + " ")) {
          boolean unused = each.course.stop(StopReason.REQUESTED, world.now);
          advance(each);
        }
      }
    }
    for (; seenAttempts < world.attempts.size(); seenAttempts++) {
      var attempt = world.attempts.get(seenAttempts);
      if (!ended.add(Call.id(attempt.job(), attempt.node(), attempt.invocation()))) {
        throw new Violation(Property.ONE_END, attempt.toString());
      }
      if (attempt.kind() == TaskResult.Kind.OUTCOME_UNKNOWN) {
        happened.merge(Trouble.OUTCOME_UNKNOWN, 1, Integer::sum);
        unknown.add(new TaskKey(attempt.job(), attempt.node()));
      }
    }
  }

  // ---- who asks

  private void send(LaunchSpec launch) {
    Call call = Objects.requireNonNull(launch.call());
    Followed sent = new Followed(launch, CallCourse.sent(call, client), true);
    follow(sent);
    if (happens(0.05, Trouble.REQUEST_LOST)) {
      boolean isKnown = random.fraction() < 0.5;
      started(sent, isKnown ? new CallAnswer.NotStarted("cannot connect", 0) : SILENCE, 10_000);
      return;
    }
    long way = happens(0.1, Trouble.REQUEST_LATE) ? 8_000 + below(30_000) : 1 + below(500);
    boolean isLost = happens(0.15, Trouble.ANSWER_LOST);
    if (isLost || way > 8_000) {
      started(sent, SILENCE, 10_000);
    }
    at(
        way,
        () -> {
          CallAnswer answer = begin(call, new TaskKey(launch.job(), launch.node()));
          if (!isLost && way <= 8_000) {
            started(sent, answer, 1 + below(500));
          }
        });
  }

  private static final CallAnswer SILENCE = new CallAnswer.Unknown("no answer in time");

  private void started(Followed call, CallAnswer answer, long after) {
    CallAnswer heard =
        mistake == Mistake.UNKNOWN_IS_REFUSED && answer instanceof CallAnswer.Unknown
            ? new CallAnswer.NotStarted("refused", 1_000)
            : answer;
    at(
        after,
        () -> {
          if (followed.get(call.id()) == call) {
            call.course.started(heard, world.now);
            advance(call);
          }
        });
  }

  private void follow(Followed call) {
    followed.put(call.id(), call);
    if (call.launch.job().equals(ONLY) && mistake != Mistake.WAITS_FOR_EVER) {
      at(
          100_000,
          () -> {
            if (followed.get(call.id()) == call) {
              boolean unused = call.course.stop(StopReason.TIMEOUT, world.now);
              advance(call);
            }
          });
    }
    advance(call);
  }

  private void advance(Followed call) {
    if (followed.get(call.id()) != call) {
      return;
    }
    CallCourse.Request request = call.course.due(world.now);
    if (request != null) {
      ask(call, request);
    }
    CallCourse.End over = call.course.end();
    if (over != null) {
      followed.remove(call.id());
      ends(
          call.launch,
          TaskResult.of(
                  call.launch.job(), call.launch.node(), call.launch.invocation(), over.kind())
              .withRawStatus(over.status())
              .withMessage(over.message())
              .withStopReason(over.stop())
              .withRetryAfterMillis(over.retryAfterMillis()));
      return;
    }
    long next = call.course.nextMillis();
    if (next != CallCourse.NEVER) {
      at(Math.max(1, next - world.now), () -> advance(call));
    }
  }

  private void ends(LaunchSpec launch, TaskResult end) {
    world.running.remove(new TaskKey(launch.job(), launch.node()), launch);
    world.post(new LoopInput.TaskEnded(end));
  }

  private void ask(Followed call, CallCourse.Request request) {
    boolean arrives = !happens(0.1, Trouble.REQUEST_LOST);
    boolean returns = !happens(0.1, Trouble.ANSWER_LOST);
    long way = 1 + below(1_000);
    at(
        way,
        () -> {
          CallAnswer answer = arrives ? asked(call, request) : SILENCE;
          at(
              returns ? way : 10_000,
              () -> {
                if (followed.get(call.id()) == call) {
                  call.course.answered(request, returns ? answer : SILENCE, world.now);
                  advance(call);
                }
              });
        });
  }

  // ---- the services

  private CallAnswer begin(Call call, TaskKey task) {
    String id = call.name(CallSpec.INVOCATION);
    String key = call.spec().idempotent() ? call.name(CallSpec.KEY) : "";
    if (refused.contains(id) || happens(0.05, Trouble.REFUSED)) {
      return new CallAnswer.NotStarted("HTTP 429", 1_000);
    }
    Work known = byKey.get(key);
    if (known != null) {
      works.put(id, known);
      return stands(known);
    }
    if (!begun.add(id)) {
      throw new Violation(Property.SENT_ONCE, task + " as " + id);
    }
    for (Work other : works.values()) {
      if (other.task.equals(task) && other.runs) {
        throw new Violation(Property.NEVER_TWICE_AT_ONCE, task.toString());
      }
    }
    Work work = new Work(task);
    works.put(id, work);
    if (!key.isEmpty()) {
      byKey.put(key, work);
    }
    boolean isEasy = world.now >= end || !key.isEmpty() || random.fraction() < 0.6;
    String status = isEasy ? "done" : random.fraction() < 0.5 ? "incomplete" : "error_backoff";
    at(1 + below(60_000), () -> finish(call, work, status));
    return CallAnswer.Running.PLAIN;
  }

  private void finish(Call call, Work work, String status) {
    if (!work.runs) {
      return;
    }
    work.runs = false;
    work.status = status;
    boolean mayForget = !call.name(CallSpec.JOB).equals("proves");
    if (mayForget && happens(0.05, Trouble.FORGOTTEN)) {
      at(below(20_000), () -> work.isForgotten = true);
    }
    if (call.spec().callback().isEmpty()) {
      return;
    }
    if (world.now >= end || random.fraction() < 0.9) {
      report(call, status, below(world.now >= end ? 1_000 : 20_000), 5);
    }
    if (happens(0.2, Trouble.REPORTED_TWICE)) {
      report(call, status, below(100_000), 1);
    }
    if (happens(0.2, Trouble.REPORTED_OTHERWISE)) {
      report(call, "failed", 20_000 + below(100_000), 1);
    }
  }

  /** Reports an end; repeated while the scheduler cannot take it. */
  private void report(Call call, String status, long after, int times) {
    at(
        after,
        () -> {
          happened.merge(Trouble.REPORTED, 1, Integer::sum);
          TaskKey task = new TaskKey(call.name(CallSpec.JOB), call.name(CallSpec.NODE));
          LaunchSpec alive = world.running.get(task);
          Call named =
              mistake == Mistake.REPORT_FOR_ANY && alive != null
                  ? Objects.requireNonNull(alive.call())
                  : call;
          CompletableFuture<Boolean> answer = new CompletableFuture<>();
          world.post(
              new LoopInput.Execute<>(
                  new Command.Report(
                      new Callback(
                          task.job(),
                          task.node(),
                          named.name(CallSpec.INVOCATION),
                          "",
                          Json.object().put("result", status).build())),
                  answer));
          world.settle();
          try {
            boolean unused = answer.join();
          } catch (CompletionException e) {
            if (!(e.getCause() instanceof RefusedException)) {
              throw e;
            }
            if (times > 1) {
              report(call, status, 2_000, times - 1);
            }
          }
        });
  }

  private CallAnswer asked(Followed call, CallCourse.Request request) {
    Work work = works.get(call.id());
    if (work == null || work.isForgotten) {
      if (call.launch.job().equals("proves")) {
        refused.add(call.id());
      }
      return new CallAnswer.NotFound("HTTP 404");
    }
    if (request == CallCourse.Request.CANCEL && work.runs) {
      work.runs = false;
      work.status = "";
    }
    return stands(work);
  }

  private static CallAnswer stands(Work work) {
    return work.runs
        ? CallAnswer.Running.PLAIN
        : work.status.isEmpty() ? new CallAnswer.Cancelled() : new CallAnswer.Ended(work.status);
  }

  // ---- the worst

  private void trouble() {
    if (world.now >= end) {
      return;
    }
    if (random.fraction() < 0.5) {
      happened.merge(Trouble.WORKER_LOST, 1, Integer::sum);
      for (Followed each : new ArrayList<>(followed.values())) {
        if (each.byWorker && random.fraction() < 0.5) {
          followed.remove(each.id());
          at(below(15_000), () -> lost(each.launch));
        }
      }
    } else if (random.fraction() < 0.5) {
      happened.merge(Trouble.SCHEDULER_LOST, 1, Integer::sum);
      followed.values().removeIf(each -> !each.byWorker);
      world.crashAndRestart();
      at(
          below(3_000),
          () -> {
            begin();
            world
                .stored
                .values()
                .forEach(
                    row -> {
                      Call call = row.call();
                      if (row.status().main() == TaskStatus.Main.RUNNING
                          && call != null
                          && !followed.containsKey(call.name(CallSpec.INVOCATION))) {
                        LaunchSpec launch =
                            LaunchSpec.of(row.job(), row.node(), row.invocation())
                                .call(call)
                                .build();
                        at(below(15_000), () -> lost(launch));
                      }
                    });
          });
    } else {
      happened.merge(Trouble.KILLED, 1, Integer::sum);
      List<TaskKey> running = new ArrayList<>(world.running.keySet());
      if (!running.isEmpty()) {
        TaskKey one = running.get((int) below(running.size()));
        var unused = world.run(new Command.Kill(one.job(), one.node(), "me", "why not"));
      }
    }
    at(10_000 + below(60_000), this::trouble);
  }

  private void lost(LaunchSpec launch) {
    if (followed.containsKey(Objects.requireNonNull(launch.call()).name(CallSpec.INVOCATION))) {
      return;
    }
    ends(
        launch,
        mistake == Mistake.LOST_IS_FAILED
            ? TaskResult.of(
                launch.job(), launch.node(), launch.invocation(), TaskResult.Kind.CALL_FAILED)
            : TaskResult.lost(
                launch.job(), launch.node(), launch.invocation(), "worker lost", world.now));
  }

  // ---- what the services can do

  private final CallClient client =
      new CallClient() {
        @Override
        public String executor() {
          return "http";
        }

        @Override
        public String description(Call call) {
          return "simulated";
        }

        @Override
        public CompletionStage<CallAnswer> start(
            Call call, Json.Obj argument, BooleanSupplier maySend) {
          throw new AssertionError("the simulation sends");
        }

        @Override
        public boolean canPoll(Call call) {
          return !call.name(CallSpec.JOB).equals(ONLY);
        }

        @Override
        public CompletionStage<CallAnswer> poll(Call call, String handle) {
          throw new AssertionError("the simulation asks");
        }

        @Override
        public boolean canCancel(Call call) {
          return !call.name(CallSpec.JOB).equals("again");
        }

        @Override
        public CompletionStage<CallAnswer> cancel(Call call, String handle) {
          throw new AssertionError("the simulation cancels");
        }

        @Override
        public PollPace pace(Call call) {
          return new PollPace(1_000, 8_000);
        }

        @Override
        public boolean provesAbsence(Call call) {
          return mistake == Mistake.ABSENCE_PROVES || call.name(CallSpec.JOB).equals("proves");
        }

        @Override
        public void close() {}
      };

  /** Lives many lives; returns the first seed that breaks something, and what. */
  static @Nullable Violation first(
      long from, long seeds, Mistake mistake, Map<Trouble, Integer> sum) {
    for (long seed = from; seed < from + seeds; seed++) {
      try {
        new CallSimulation(seed, mistake)
            .live()
            .forEach((trouble, count) -> sum.merge(trouble, count, Integer::sum));
      } catch (Violation e) {
        e.addSuppressed(new IllegalStateException("seed " + seed));
        return e;
      }
    }
    return null;
  }
}
