package io.espalier.core.scheduling.query;

import io.espalier.core.api.RefusedException;
import io.espalier.core.api.view.Explanation;
import io.espalier.core.api.view.Explanation.Alternative;
import io.espalier.core.api.view.Explanation.Kind;
import io.espalier.core.api.view.Explanation.Reason;
import io.espalier.core.api.view.Explanation.Step;
import io.espalier.core.api.view.Explanation.Use;
import io.espalier.core.config.Job;
import io.espalier.core.config.Resource;
import io.espalier.core.config.RoleFilter;
import io.espalier.core.config.task.ProgressRetryRules;
import io.espalier.core.json.Json;
import io.espalier.core.scheduling.capacity.NodeCapacity;
import io.espalier.core.scheduling.capacity.RunningCap;
import io.espalier.core.scheduling.gate.Gate;
import io.espalier.core.scheduling.gate.Scope;
import io.espalier.core.scheduling.gate.StageGate;
import io.espalier.core.scheduling.job.StatusCodes;
import io.espalier.core.scheduling.reservation.Reservation;
import io.espalier.core.scheduling.state.SchedulingState;
import io.espalier.core.scheduling.task.JobThrottle;
import io.espalier.core.scheduling.task.NodeEligibility;
import io.espalier.core.scheduling.util.BestPath;
import io.espalier.core.status.ParsedStatus;
import io.espalier.core.status.StatusLabel;
import io.espalier.core.status.TaskStatus;
import io.espalier.core.topology.Topology;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Lists all conditions that keep one task from starting. It queries the same classes that start
 * tasks.
 */
public final class Explainer {
  private static final int MOST_SAID = 300;

  private final SchedulingState state;
  private final Topology topology;
  private final WorkerExplainer workers;
  private final List<Reason> reasons = new ArrayList<>();
  private final List<Step> steps = new ArrayList<>();

  public Explainer(SchedulingState state) {
    this.state = state;
    this.topology = state.topology;
    workers = new WorkerExplainer(state);
  }

  /**
   * Explains a task by names.
   *
   * @throws RefusedException for an unknown job or node
   */
  public static Explanation explain(SchedulingState state, String job, String node) {
    int number = state.jobs.find(job);
    if (number < 0) {
      throw new RefusedException(RefusedException.Reason.UNKNOWN, "no job is called " + job);
    }
    int level = state.jobs.levels[number];
    int at = level < 0 ? -1 : state.topology.find(level, node);
    return at < 0
        ? OtherPartitionExplainer.explain(state.config().shard(), job, level, node)
        : explain(state, number, at);
  }

  private static Explanation explain(SchedulingState state, int job, int node) {
    int code = state.tasks.code(job, node);
    // Nobody would start a task that runs or is done, whatever it lacks.
    boolean mayLack = StatusCodes.main(code) != TaskStatus.Main.RUNNING && !isDone(code);
    Explainer explainer = new Explainer(state);
    if (mayLack) {
      explainer.job(job);
    }
    explainer.status(job, node);
    if (mayLack) {
      explainer.dependencies(job, node);
      explainer.stage(job, node);
    }
    Explainer way = mayLack ? explainer : new Explainer(state);
    int[] best = way.bestPath(job, node);
    way.path(job, best);
    Topology topology = state.topology;
    String label =
        StatusLabel.of(StatusCodes.bits(StatusCodes.withEffect(code, StatusCodes.OPEN))).word();
    return new Explanation(
        state.jobs.name(job),
        state.topology.name(node),
        explainer.reasons.isEmpty(),
        label,
        explainer.reasons,
        mayLack ? way.steps : way.steps.stream().map(Step::unblocked).toList(),
        mayLack && topology.slotCount(node) > 1
            ? alternatives(state, job, node, best[0])
            : List.<Alternative>of(),
        state.eligibleMillis(job, node),
        null);
  }

  /** Returns the reasons that block all tasks of a job, except for workers. */
  public static List<Reason> gates(SchedulingState state, int job) {
    Explainer explainer = new Explainer(state);
    explainer.gates(job);
    return explainer.reasons;
  }

  /**
   * Returns the closed gates of a node itself, for all jobs and for one.
   *
   * @param job -1: only those for all jobs
   */
  static List<Reason> closed(SchedulingState state, int job, int node) {
    Explainer explainer = new Explainer(state);
    explainer.entries(explainer.gates(job, node));
    return explainer.reasons;
  }

  private void job(int number) {
    gates(number);
    if (state.jobs.job(number) != null && state.workers.placementLevel(number) < 0) {
      reasons.addAll(workers.reasons(number, state.workers.pinnedTo(number)));
    }
  }

  private void gates(int number) {
    Job job = state.jobs.job(number);
    if (!state.jobs.schedulerEnabled()) {
      add(Kind.SCHEDULER_DISABLED, null, "the scheduler is disabled in its settings");
    }
    if (job == null) {
      add(Kind.JOB_DISABLED, null, "the job is not configured any more");
      return;
    }
    if (!job.enabled()) {
      add(Kind.JOB_DISABLED, null, "the job is disabled");
    }
    if (!job.isValid()) {
      add(Kind.JOB_INVALID, null, "the configuration of the job has errors");
    }
    entries(state.gateTable.of(Scope.job(state.jobs.name(number))));
    for (String message : state.wholeJobs.waitsFor(number)) {
      add(Kind.JOB_DEPENDENCY, null, message);
    }
    reasons.addAll(QueueExplainer.reasons(state, number));
    caps(number);
  }

  /** Adds the closed gates of a job or node. */
  private void entries(List<Gate> gates) {
    long nowMillis = state.clock.wallMillis();
    gates.forEach(gate -> reasons.add(EntryMessages.reason(gate, nowMillis)));
  }

  /** Returns what closes a node for a job. */
  private List<Gate> gates(int job, int at) {
    if (!state.closed.isClosed(at) && (job < 0 || !state.closed.isClosedFor(at, job))) {
      return List.of();
    }
    String level = topology.levels().name(state.index.level(at));
    String node = topology.name(at);
    List<Gate> gates = new ArrayList<>(state.gateTable.of(Scope.node(level, node)));
    if (job >= 0) {
      gates.addAll(state.gateTable.of(Scope.jobOnNode(state.jobs.name(job), level, node)));
    }
    return gates;
  }

  private void caps(int job) {
    JobThrottle caps = state.caps;
    if (caps.isFull(job)) {
      reasons.add(full(job, caps.running(job), caps.most(job)));
    }
    if (caps.isHeld(job)) {
      reasons.add(
          Reason.of(
                  Kind.START_RATE,
                  null,
                  "the job has started as many tasks as its \"start_rate\" allows")
              .until(caps.heldUntil(job)));
    }
  }

  private Reason full(int job, int running, int most) {
    RunningCap cap = state.limitTable.cap(Scope.job(state.jobs.name(job)));
    if (cap != null && cap.most() == most) {
      return EntryMessages.reason(cap, running);
    }
    String message =
        running
            + (running == 1 ? " task of the job runs" : " tasks of the job run")
            + ", \"max_concurrent\" lets "
            + most
            + " run at once";
    return Reason.of(Kind.MAX_CONCURRENT, null, message).lacking(null, 1, most - running, most);
  }

  private void status(int job, int node) {
    int code = state.tasks.code(job, node);
    Job configured = state.jobs.job(job);
    ProgressRetryRules rules = configured == null ? null : configured.retry().orElse(null);
    switch (StatusCodes.main(code)) {
      case RUNNING ->
          add(
              Kind.ALREADY_RUNNING,
              null,
              "the task is running" + step(state.statuses.of(job, node)));
      case DONE -> {
        if (StatusCodes.isWaiting(code)) {
          waits(state.tasks.detail(job, node), rules);
        } else if (isDone(code)) {
          boolean isVerified = !StatusCodes.awaitsVerification(code);
          String left = isVerified ? "" : ", and is verified when all tasks of its job are done";
          add(Kind.DONE, null, "the task is done" + left);
        }
      }
      case FAILED ->
          add(Kind.FAILED, null, RetryMessages.failed(state.tasks.detail(job, node), rules));
      case CANCELLED -> {
        String said = why(state.tasks.detail(job, node));
        add(
            Kind.CANCELLED,
            null,
            "the task will not run" + (said.isEmpty() ? ": cancelled" : said));
      }
      case UNSTARTED, INCOMPLETE, ERROR -> {
        if (StatusCodes.isWaiting(code)) {
          waits(state.tasks.detail(job, node), rules);
        }
      }
    }
  }

  /** Returns whether a task is done and not about to be verified. */
  private static boolean isDone(int code) {
    return StatusCodes.main(code) == TaskStatus.Main.DONE
        && !StatusCodes.isWaiting(code)
        && !StatusCodes.isInVerification(code);
  }

  private void waits(@Nullable TaskStatus status, @Nullable ProgressRetryRules rules) {
    reasons.add(
        Reason.of(
                Kind.BACKOFF, null, RetryMessages.waits(status, rules) + why(status) + step(status))
            .until(status == null ? 0 : status.readyAtMillis()));
  }

  private static String step(@Nullable TaskStatus status) {
    return status == null || status.step() == null ? "" : " (step " + status.step().label() + ")";
  }

  /** Returns the outcome of the last attempt, or the message of a worker that refused the task. */
  private static String why(@Nullable TaskStatus status) {
    Json.Obj data = status == null ? null : status.data();
    if (data != null && data.get(ParsedStatus.EXCEPTION) instanceof Json.Str said) {
      String text = said.value();
      return ": " + (text.length() > MOST_SAID ? text.substring(0, MOST_SAID) + "..." : text);
    }
    return "";
  }

  private void dependencies(int job, int node) {
    for (String message : waitsFor(job, node)) {
      add(Kind.DEPENDENCY, topology.name(node), message);
    }
  }

  private void stage(int job, int node) {
    StageGate gate = state.gateTable.stages(state.jobs.name(job));
    int stage = state.statuses.staged().stage(job, node);
    if (gate != null && stage > gate.open()) {
      String place = "the task joins in stage " + (stage + 1) + " of " + gate.members().stages();
      add(Kind.ROLLOUT, topology.name(node), place + "; " + gate.reason());
    }
  }

  /** Describes in a sentence each the jobs that are not yet done on the node, but must be. */
  public List<String> waitsFor(int job, int node) {
    List<String> all = new ArrayList<>();
    Job configured = state.jobs.job(job);
    int[] dependencies = state.jobs.dependencies[job];
    for (int i = 0; i < dependencies.length; i++) {
      if (!state.statuses.isDependencyDone(job, node, dependencies[i])) {
        String name = configured == null ? "" : configured.dependsOn().get(i);
        all.add("job " + name + " " + whyNotDone(job, node, dependencies[i]));
      }
    }
    return all;
  }

  private String whyNotDone(int job, int node, int dependency) {
    if (dependency < 0) {
      return "is not configured, so it can never be done here";
    }
    int other = state.statuses.sameName(job, node, dependency);
    if (other < 0) {
      return "has no task on a node of this name, so it can never be done here";
    }
    int code = state.tasks.code(dependency, other);
    return switch (StatusCodes.effect(code)) {
      case StatusCodes.AVOIDED -> "is not done here and its filters exclude the node";
      case StatusCodes.DISABLED -> "is not done here and the node is disabled";
      default -> "is not done here: " + StatusLabel.of(StatusCodes.bits(code)).word();
    };
  }

  /**
   * Returns the edges of the path with the fewest failing conditions, starting with the node's own.
   */
  int[] bestPath(int job, int node) {
    return BestPath.find(topology, node, slot -> failures(job, slot));
  }

  /** Summarizes the reasons on the other edges of a node; the best path is explained in full. */
  private static List<Alternative> alternatives(
      SchedulingState state, int job, int node, int best) {
    Topology topology = state.topology;
    List<Alternative> others = new ArrayList<>();
    int count = topology.slotCount(node);
    for (int i = 0; i < count && others.size() < Alternative.MOST; i++) {
      int slot = topology.slot(node, i);
      if (slot != best) {
        Explainer other = new Explainer(state);
        int[] above = other.bestPath(job, topology.parent(slot));
        int[] slots = new int[above.length + 1];
        slots[0] = slot;
        System.arraycopy(above, 0, slots, 1, above.length);
        other.path(job, slots);
        others.add(
            new Alternative(
                topology.name(topology.parent(slot)),
                topology.role(slot),
                other.reasons.stream().map(Alternative::shown).toList()));
      }
    }
    return others;
  }

  private void path(int job, int[] slots) {
    for (int slot : slots) {
      int at = topology.node(slot);
      int before = reasons.size();
      if (!topology.enabled(slot)) {
        add(Kind.NODE_DISABLED, topology.name(at), "the node is disabled");
      }
      entries(gates(job, at));
      if (slot == 0 && isElsewhere(job)) {
        add(
            Kind.OTHER_SHARD,
            topology.name(at),
            "tasks on the instance belong to the scheduler with shard 0/"
                + state.config().shard().count());
      } else if (!passes(job, slot)) {
        add(Kind.FILTERED, topology.name(at), excluded(job, slot));
      }
      int level = state.index.level(at);
      reasons.addAll(placement(job, slot, level));
      rate(at, level);
      if (state.groups != null) {
        reasons.addAll(GroupExplainer.reasons(state, state.groups, at, level));
      }
      List<Use> uses = new ArrayList<>();
      Reservation kept =
          state.reservations == null ? null : state.reservations.answers().of(at, level);
      for (int r : state.ledger.resources(level)) {
        Resource resource = state.config().settings().resources().get(r);
        int need = state.jobs.needs[job][r];
        int free = state.ledger.free(at, level, r);
        int limit = state.ledger.limit(at, r);
        uses.add(new Use(resource.name(), need, limit - free, limit));
        if (!NodeCapacity.fits(need, free)) {
          String more =
              LimitMessages.never(state, need, limit, resource)
                  + LimitMessages.on(state, at, resource)
                  + (kept != null && kept.job().equals(state.jobs.name(job))
                      ? "; " + words(kept)
                      : "");
          reasons.add(slots(Kind.RESOURCE, at, resource, need, free, limit, more));
        } else if (isKept(job, at, level, r)) {
          reasons.add(
              slots(Kind.RESERVED, at, resource, need, free, limit, ", but " + words(kept)));
        }
      }
      steps.add(
          0,
          new Step(
              topology.name(at),
              topology.levels().name(level),
              topology.enabled(slot),
              uses,
              reasons.size() > before,
              Reservation.shown(kept)));
    }
  }

  private Reason slots(
      Kind kind, int node, Resource resource, int need, int free, int limit, String more) {
    String name = resource.name();
    String words = "needs " + need + " of " + name + ", " + LimitMessages.free(free, limit);
    return Reason.of(kind, topology.name(node), words + more).lacking(name, need, free, limit);
  }

  private void rate(int node, int level) {
    if (state.rates.isHeld(node, level)) {
      String message =
          "as many tasks have started below this "
              + topology.levels().name(level)
              + " as its rate in \"start_rates\" allows";
      long until = state.rates.heldUntil(node, level);
      reasons.add(Reason.of(Kind.START_RATE, topology.name(node), message).until(until));
    }
  }

  /** Returns whether free slots exist that are reserved for another job. */
  private boolean isKept(int job, int node, int level, int resource) {
    return state.reservations != null
        && state.reservations.answers().keepsFrom(job, node, level, resource)
        && NodeCapacity.fits(
            state.jobs.needs[job][resource], state.ledger.free(node, level, resource));
  }

  private static String words(@Nullable Reservation kept) {
    if (kept == null) {
      return "";
    }
    return "kept free for job "
        + kept.job()
        + (kept.task() == null ? "" : ", task " + kept.task())
        + ", since "
        + Instant.ofEpochMilli(kept.sinceMillis()).truncatedTo(ChronoUnit.SECONDS);
  }

  /** Explains why a job may not use an edge; roles take precedence over filters. */
  private String excluded(int job, int slot) {
    Job configured = state.jobs.job(job);
    String role = topology.role(slot);
    if (configured == null || RoleFilter.permits(configured, role)) {
      return "the filters of the job exclude the node";
    }
    return "the job uses only places with the role "
        + String.join(" or ", configured.scheduling().roles())
        + ", and under "
        + topology.name(topology.parent(slot))
        + " the node is "
        + role;
  }

  private boolean isElsewhere(int job) {
    return state.jobs.instanceElsewhere && state.jobs.levels[job] == 0;
  }

  private long failures(int job, int slot) {
    int at = topology.node(slot);
    int level = state.index.level(at);
    long failures = topology.enabled(slot) ? 0 : 1;
    failures += gates(job, at).size();
    failures += passes(job, slot) ? 0 : 1;
    failures += placement(job, slot, level).size();
    failures += state.rates.isHeld(at, level) ? 1 : 0;
    failures += state.groups == null ? 0 : state.groups.obstacles(at, level);
    for (int r : state.ledger.resources(level)) {
      failures +=
          NodeCapacity.fits(state.jobs.needs[job][r], state.ledger.free(at, level, r)) ? 0 : 1;
      failures += isKept(job, at, level, r) ? 1 : 0;
    }
    return failures;
  }

  /** Explains at the placement level whether the host of a placed job's path has a worker. */
  private List<Reason> placement(int job, int slot, int level) {
    int placing = state.workers.placementLevel(job);
    if (placing < 0 || level < placing) {
      return List.of();
    }
    if (level == placing) {
      return workers.reasons(job, topology.name(topology.node(slot)));
    }
    // A path that skips the placement level may end on any worker.
    int parent = topology.parent(slot);
    return parent >= 0 && state.index.level(parent) < placing
        ? workers.reasons(job, null)
        : List.of();
  }

  /**
   * Returns whether filters and roles accept an edge, as recorded in the index; they are
   * re-evaluated only where a disabled node hides the result.
   */
  private boolean passes(int job, int slot) {
    if (state.index.isAllowed(slot, job)) {
      return true;
    }
    Job configured = state.jobs.job(job);
    return !topology.enabled(slot)
        && (configured == null || NodeEligibility.passes(topology, configured, slot));
  }

  private void add(Kind kind, @Nullable String node, String message) {
    reasons.add(Reason.of(kind, node, message));
  }
}
