package io.espalier.testkit.cluster;

import io.espalier.core.config.task.KillRequest;
import io.espalier.core.protocol.HealthCheck;
import io.espalier.core.protocol.RunId;
import io.espalier.core.running.LaunchSpec;
import io.espalier.core.running.StopReason;
import io.espalier.core.running.TaskResult;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The processes of one invocation: the first one and its descendants, which may leave its group and
 * its session, replace their environment, ignore TERM, and outlive it. The invocation has ended
 * when the first process is dead and no other one belongs to it (thrift/PROTOCOL.md).
 */
final class SimulatedTask {
  /**
   * A killed process is dead, and the next search begins, at the latest after these pauses. The
   * guard's assumption covers two rounds.
   */
  private static final int KILL_LATENCY = 10;

  private static final int SEARCH_PAUSE = 12;

  /** By these ties a search finds processes. */
  private static final Set<Tie> ALL_SEARCHED =
      Collections.unmodifiableSet(
          EnumSet.of(Tie.GROUP, Tie.SESSION, Tie.ENVIRONMENT, Tie.CONTROL_GROUP));

  final RunId run;
  private final SimulatedCluster cluster;
  private final SimulatedHost host;
  private final SimulatedWorker.Jvm parent;
  private final boolean check;

  /** The process of which this is one task; null: it has a process of its own. */
  private final @Nullable SimulatedBatch batch;

  /** What the process of its batch does after it. */
  private @Nullable SimulatedTask next;

  private boolean endedItself;
  private final Member first;
  private final List<Member> members = new ArrayList<>();
  private boolean asked;
  private boolean killed;
  private @Nullable StopReason why;
  private @Nullable TaskResult result;
  private boolean told;
  private boolean over;

  /** What connects a process with its invocation. */
  private enum Tie {
    GROUP,
    SESSION,
    ENVIRONMENT,
    CONTROL_GROUP,
    /** It keeps a pipe to the worker open. */
    PIPE
  }

  /** One process. */
  private final class Member {
    final Set<Tie> ties;
    final boolean stubborn;
    private final boolean forks;
    private boolean dead;

    Member(Set<Tie> ties, boolean stubborn, boolean forks) {
      this.ties = ties;
      this.stubborn = stubborn;
      this.forks = forks;
    }

    void killIn(int millis) {
      host.later(
          millis,
          () -> {
            if (!dead && forks && !over) {
              // Its last act: no earlier search can have seen the child.
              cluster.coverage.happened(SimulationEvent.FORKED_WHILE_KILLED);
              members.add(new Member(ties, true, false));
            }
            die(killedResult());
          });
    }

    void die(TaskResult how) {
      if (dead || over) {
        return;
      }
      dead = true;
      if (this == first) {
        result = how;
      }
      settle();
    }

    boolean isFoundBy(Set<Tie> searched) {
      return !dead && (this == first || !Collections.disjoint(ties, searched));
    }

    /** Returns whether the invocation has not ended as long as this process lives. */
    boolean belongs() {
      return !dead
          && (ties.contains(Tie.PIPE)
              || ties.contains(Tie.CONTROL_GROUP)
              || (killed && isFoundBy(ALL_SEARCHED)));
    }
  }

  SimulatedTask(
      SimulatedCluster cluster,
      SimulatedHost host,
      SimulatedWorker.Jvm parent,
      LaunchSpec launch,
      @Nullable SimulatedBatch batch) {
    this.batch = batch;
    this.cluster = cluster;
    this.host = host;
    this.parent = parent;
    this.run = RunId.of(launch);
    this.check = HealthCheck.is(launch.job());
    Random random = cluster.random;
    this.first = new Member(allTies(), random.nextInt(5) == 0, false);
    members.add(first);
    host.tasks().put(run, this);
    if (!check) {
      cluster.trace(() -> run + " lives on " + parent.name);
      cluster.invariants.started(run, launch.worker().shard(), SimulatedSteps.of(launch));
    }
    long lasts =
        check ? 5 + random.nextInt(50) : 20 + random.nextInt(2 * cluster.plan.taskMillis());
    host.later(lasts, () -> endItself(check ? "done" : status(random, launch)));
    if (!check && random.nextInt(3) == 0) {
      for (int i = random.nextInt(3); i >= 0; i--) {
        descend(random, lasts);
      }
    }
    long timeout = launch.limits().timeoutMillis();
    if (timeout > 0) {
      parent.later(timeout, () -> timedOut(launch.kill()));
    }
  }

  private void endItself(String status) {
    endedItself |= !over && !first.dead;
    first.die(exited(status));
  }

  private Set<Tie> allTies() {
    Set<Tie> ties = EnumSet.allOf(Tie.class);
    if (!host.hasControlGroups()) {
      ties.remove(Tie.CONTROL_GROUP);
    }
    return ties;
  }

  /** Adds a descendant, which may cut all ties but one by which it can be found. */
  private void descend(Random random, long firstLasts) {
    Set<Tie> ties = allTies();
    boolean keepsEnvironment = random.nextBoolean();
    if (!keepsEnvironment) {
      ties.remove(Tie.ENVIRONMENT);
    }
    int leaves = random.nextInt(3);
    if (leaves > 0) {
      ties.remove(Tie.GROUP);
    }
    if (leaves == 2 && (keepsEnvironment || host.hasControlGroups())) {
      cluster.coverage.happened(SimulationEvent.SESSION_LEFT);
      ties.remove(Tie.SESSION);
    }
    if (random.nextBoolean()) {
      ties.remove(Tie.PIPE);
    }
    Member member = new Member(ties, random.nextInt(3) == 0, random.nextInt(4) == 0);
    members.add(member);
    long lasts =
        random.nextInt(8) == 0
            ? firstLasts + random.nextInt((int) (2 * cluster.plan.timers().lostMillis()))
            : random.nextInt((int) (2 * firstLasts));
    host.later(lasts, () -> member.die(killedResult()));
  }

  /** The supervisor of its worker has enforced its time limit. */
  private void timedOut(KillRequest how) {
    if (!over && why == null) {
      cluster.coverage.happened(SimulationEvent.TASK_TIMED_OUT);
      why = StopReason.TIMEOUT;
      stop(how);
    }
  }

  private String status(Random random, LaunchSpec launch) {
    int drawn = random.nextInt(20);
    boolean mayFail = cluster.plan.mayFail(run.job()) || SimulatedSteps.of(launch).equals("verify");
    return drawn < 16
        ? "done"
        : drawn < 18 || (!mayFail && drawn == 19)
            ? "error_backoff"
            : drawn < 19 ? "incomplete" : "failed";
  }

  private TaskResult exited(String status) {
    return TaskResult.of(
            run.job(),
            run.node(),
            run.invocation(),
            asked ? TaskResult.Kind.KILLED : TaskResult.Kind.EXITED)
        .withRawStatus(status)
        .withExit(0, null)
        .withStopReason(why);
  }

  private TaskResult killedResult() {
    return TaskResult.of(run.job(), run.node(), run.invocation(), TaskResult.Kind.KILLED)
        .withExit(null, 9)
        .withStopReason(why);
  }

  // ---- its worker stops it

  void stop(KillRequest how) {
    if (how.method() == KillRequest.Method.KILL) {
      kill();
      return;
    }
    term();
    if (how.method() == KillRequest.Method.TERM_WAIT_KILL) {
      parent.later(Math.max(1, how.waitMillis()), this::killIfLive);
    }
  }

  private void killIfLive() {
    if (!over) {
      kill();
    }
  }

  void term() {
    asked = true;
    if (batch != null) {
      batch.asked();
    }
    if (cluster.has(ProtocolBug.DEAD_WHEN_ASKED_TO_END)) {
      parent.ended(killedResult());
    }
    for (Member member : List.copyOf(members)) {
      if (!member.stubborn && member.ties.contains(Tie.GROUP)) {
        host.later(5 + cluster.random.nextInt(500), () -> member.die(killedResult()));
      }
    }
  }

  /** Kills what a search finds, round by round until it finds nothing. */
  void kill() {
    latest().rounds(searched(), again -> parent.later(SEARCH_PAUSE, again));
  }

  // ---- the guard, and the next process on the data directory

  /** Like {@link #kill}, and goes on while the worker's JVM is stopped or dead. */
  void killByGuard() {
    latest()
        .rounds(
            cluster.has(ProtocolBug.GUARD_MISSES_SCATTERED) ? EnumSet.of(Tie.GROUP) : searched(),
            again -> host.later(SEARCH_PAUSE, again));
  }

  /** Searches once, and kills what is found. */
  void killOnce() {
    latest().rounds(searched(), again -> {});
  }

  /** Returns what its process does now: another task of its batch, or this one. */
  private SimulatedTask latest() {
    SimulatedTask latest = this;
    for (SimulatedTask after = next; after != null; after = after.next) {
      latest = after;
    }
    return latest;
  }

  /** Returns whether a search finds a process of it. */
  boolean isFound() {
    return isFoundBy(searched());
  }

  private boolean isFoundBy(Set<Tie> ties) {
    return members.stream().anyMatch(member -> member.isFoundBy(ties));
  }

  private Set<Tie> searched() {
    Set<Tie> ties = EnumSet.copyOf(ALL_SEARCHED);
    if (cluster.has(ProtocolBug.SESSIONS_NOT_SEARCHED)) {
      ties.remove(Tie.SESSION);
    }
    if (cluster.has(ProtocolBug.ENVIRONMENTS_NOT_SEARCHED)) {
      ties.remove(Tie.ENVIRONMENT);
    }
    if (cluster.has(ProtocolBug.CONTROL_GROUPS_NOT_SEARCHED)) {
      ties.remove(Tie.CONTROL_GROUP);
    }
    return ties;
  }

  private void rounds(Set<Tie> ties, Consumer<Runnable> later) {
    if (over) {
      return;
    }
    asked = true;
    killed = true;
    for (Member member : List.copyOf(members)) {
      if (member.isFoundBy(ties)) {
        member.killIn(1 + cluster.random.nextInt(KILL_LATENCY));
      }
    }
    if (!cluster.has(ProtocolBug.KILLED_IN_ONE_ROUND)) {
      later.accept(
          () -> {
            if (isFoundBy(ties)) {
              rounds(ties, later);
            }
          });
    }
  }

  // ---- the end

  private void settle() {
    TaskResult how = result;
    if (how == null || over) {
      return;
    }
    boolean ended = members.stream().noneMatch(Member::belongs);
    if (!told && (ended || looksEnded())) {
      told = true;
      parent.later(1 + cluster.random.nextInt(5), () -> parent.ended(how));
    }
    if (ended) {
      end(how);
    } else {
      cluster.coverage.happened(SimulationEvent.FIRST_PROCESS_OUTLIVED);
    }
  }

  /** Returns whether the worker takes it for ended by mistake. */
  private boolean looksEnded() {
    if (cluster.has(ProtocolBug.ENDS_WITH_FIRST_PROCESS)) {
      return true;
    }
    Set<Tie> seen = searched();
    if (!killed) {
      seen.retainAll(EnumSet.of(Tie.CONTROL_GROUP));
    } else if (cluster.has(ProtocolBug.KILLED_IN_ONE_ROUND)) {
      seen.clear();
    }
    seen.add(Tie.PIPE);
    return !isFoundBy(seen);
  }

  /** Ends together with its host, and so does the process of its batch. */
  void vanish() {
    if (!over) {
      killed = true;
      end(killedResult());
    }
  }

  private void end(TaskResult how) {
    over = true;
    host.tasks().remove(run);
    if (!check) {
      cluster.trace(() -> run + " dies: " + how.kind() + " " + word(how.rawStatus()));
      cluster.invariants.died(run, how);
    }
    if (batch != null && endedItself && !killed) {
      next = batch.goOn();
    } else if (batch != null) {
      batch.died();
    }
  }

  private static String word(@Nullable String status) {
    return status == null ? "" : status;
  }
}
