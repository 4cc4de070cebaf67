package io.espalier.core.loop;

import io.espalier.core.api.Command;
import io.espalier.core.call.CallAnswer;
import io.espalier.core.call.CallCourse;
import io.espalier.core.config.task.CallSpec;
import io.espalier.core.running.Call;
import io.espalier.core.running.LaunchSpec;
import io.espalier.core.running.StopReason;
import io.espalier.core.running.TaskResult;
import io.espalier.core.running.WorkerInfo;
import io.espalier.core.running.WorkerRef;
import io.espalier.core.status.TaskKey;
import io.espalier.core.status.TaskStatus;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * One life of tasks that call services: the production loop and the production course of a call,
 * over simulated time, with services that are slow, lose requests and answers, forget, and call
 * back twice, late or with another outcome, with workers that are lost, schedulers that die, and
 * people who kill. One seed decides everything. Faults stop after a while, and all must end.
 */
final class CallSimulation {
  private static final long AT_MOST_MILLIS = 4_000_000;
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
  private final LoopWorld world = new LoopWorld();
  private final CallFate fate;
  private final SimulatedServices services;
  private final Map<String, Followed> followed = new LinkedHashMap<>();
  private final Set<TaskKey> unknown = new HashSet<>();
  private final Set<String> ended = new HashSet<>();
  private int seenLaunches;
  private int seenAdopted;
  private int seenLetGo;
  private int seenKills;
  private int seenAttempts;

  CallSimulation(long seed, Mistake mistake) {
    this.mistake = mistake;
    world.isRemote = true;
    fate = new CallFate(seed, world);
    services = new SimulatedServices(world, fate, mistake);
    begin();
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
    fate.at(20_000 + fate.below(60_000), this::trouble);
    while (fate.next()) {
      world.settle();
      look();
      if (fate.millisWithoutFaults() > AT_MOST_MILLIS) {
        break;
      }
      if (fate.isEmpty() && !allEnded()) {
        // Only the loop waits, for a back-off.
        fate.at(5_000, () -> {});
        if (fate.millisWithoutFaults() > AT_MOST_MILLIS / 2) {
          break;
        }
      }
    }
    if (!allEnded()) {
      throw new Violation(Property.EVERYTHING_ENDS, fate.millisWithoutFaults() + " ms: " + left());
    }
    return fate.happened();
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
        follow(new Followed(launch, CallCourse.adopted(call, services, world.now), false));
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
        fate.count(Trouble.OUTCOME_UNKNOWN);
        unknown.add(new TaskKey(attempt.job(), attempt.node()));
      }
    }
  }

  // ---- who asks

  private void send(LaunchSpec launch) {
    Call call = Objects.requireNonNull(launch.call());
    Followed sent = new Followed(launch, CallCourse.sent(call, services), true);
    follow(sent);
    if (fate.happens(0.05, Trouble.REQUEST_LOST)) {
      boolean isKnown = fate.fraction() < 0.5;
      started(sent, isKnown ? new CallAnswer.NotStarted("cannot connect", 0) : SILENCE, 10_000);
      return;
    }
    long way =
        fate.happens(0.1, Trouble.REQUEST_LATE) ? 8_000 + fate.below(30_000) : 1 + fate.below(500);
    boolean isLost = fate.happens(0.15, Trouble.ANSWER_LOST);
    if (isLost || way > 8_000) {
      started(sent, SILENCE, 10_000);
    }
    fate.at(
        way,
        () -> {
          CallAnswer answer = services.begin(call, new TaskKey(launch.job(), launch.node()));
          if (!isLost && way <= 8_000) {
            started(sent, answer, 1 + fate.below(500));
          }
        });
  }

  private static final CallAnswer SILENCE = new CallAnswer.Unknown("no answer in time");

  private void started(Followed call, CallAnswer answer, long after) {
    CallAnswer heard =
        mistake == Mistake.UNKNOWN_IS_REFUSED && answer instanceof CallAnswer.Unknown
            ? new CallAnswer.NotStarted("refused", 1_000)
            : answer;
    fate.at(
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
    if (call.launch.job().equals(SimulatedServices.ONLY) && mistake != Mistake.WAITS_FOR_EVER) {
      fate.at(
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
      fate.at(Math.max(1, next - world.now), () -> advance(call));
    }
  }

  private void ends(LaunchSpec launch, TaskResult end) {
    world.running.remove(new TaskKey(launch.job(), launch.node()), launch);
    world.post(new LoopInput.TaskEnded(end));
  }

  private void ask(Followed call, CallCourse.Request request) {
    boolean arrives = !fate.happens(0.1, Trouble.REQUEST_LOST);
    boolean returns = !fate.happens(0.1, Trouble.ANSWER_LOST);
    long way = 1 + fate.below(1_000);
    fate.at(
        way,
        () -> {
          CallAnswer answer = arrives ? services.asked(call.call, request) : SILENCE;
          fate.at(
              returns ? way : 10_000,
              () -> {
                if (followed.get(call.id()) == call) {
                  call.course.answered(request, returns ? answer : SILENCE, world.now);
                  advance(call);
                }
              });
        });
  }

  // ---- the worst

  private void trouble() {
    if (fate.isHealed()) {
      return;
    }
    if (fate.fraction() < 0.5) {
      fate.count(Trouble.WORKER_LOST);
      for (Followed each : new ArrayList<>(followed.values())) {
        if (each.byWorker && fate.fraction() < 0.5) {
          followed.remove(each.id());
          fate.at(fate.below(15_000), () -> lost(each.launch));
        }
      }
    } else if (fate.fraction() < 0.5) {
      fate.count(Trouble.SCHEDULER_LOST);
      followed.values().removeIf(each -> !each.byWorker);
      world.crashAndRestart();
      fate.at(
          fate.below(3_000),
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
                        fate.at(fate.below(15_000), () -> lost(launch));
                      }
                    });
          });
    } else {
      fate.count(Trouble.KILLED);
      List<TaskKey> running = new ArrayList<>(world.running.keySet());
      if (!running.isEmpty()) {
        TaskKey one = running.get((int) fate.below(running.size()));
        var unused = world.run(new Command.Kill(one.job(), one.node(), "me", "why not"));
      }
    }
    fate.at(10_000 + fate.below(60_000), this::trouble);
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
