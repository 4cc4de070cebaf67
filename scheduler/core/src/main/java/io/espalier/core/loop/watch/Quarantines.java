package io.espalier.core.loop.watch;

import io.espalier.core.api.RefusedException;
import io.espalier.core.config.Job;
import io.espalier.core.config.JobScheduling.Quarantining;
import io.espalier.core.event.EventKind;
import io.espalier.core.fault.Fault;
import io.espalier.core.fault.FaultLocator;
import io.espalier.core.json.Json;
import io.espalier.core.loop.state.LiveTasks.Live;
import io.espalier.core.loop.state.LoopEvents;
import io.espalier.core.loop.state.LoopStats;
import io.espalier.core.loop.state.RoundStep;
import io.espalier.core.running.StopReason;
import io.espalier.core.running.TaskResult;
import io.espalier.core.scheduling.SchedulingCore;
import io.espalier.core.scheduling.gate.Gate;
import io.espalier.core.scheduling.gate.GateKind;
import io.espalier.core.scheduling.gate.Scope;
import io.espalier.core.status.Failure;
import io.espalier.core.status.store.Quarantine;
import io.espalier.core.status.store.StoreTransaction;
import io.espalier.core.topology.Topology;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Closes nodes below which the failures of a job concentrate, or suggests to
 * (docs/adr/0080-quarantine.md). The scheduler closes by itself only a part of the leaves; there it
 * starts a task on trial now and then, and opens the node when one succeeds. What an operator has
 * closed waits for an operator.
 */
public final class Quarantines implements RoundStep {
  /** The scheduler closes at most one in so many leaves by itself. */
  private static final int LEAVES_PER_CLOSED = 10;

  /** How often it is looked whether anything is left to try where a trial may begin. */
  private static final long LOOK_MILLIS = 600_000;

  private static final int MOST = 1_000;
  private static final int MOST_SUGGESTIONS = 100;

  private final SchedulingCore core;
  private final LoopEvents events;
  private final Supplier<StoreTransaction.Builder> batch;
  private final FaultLocator faults = new FaultLocator();
  private final Map<Quarantine.Key, Quarantine> all = new LinkedHashMap<>();
  private final Map<Quarantine.Key, Quarantine> suggestions = new LinkedHashMap<>();

  /**
   * Those whose gate is open, until a task starts on trial, and when to look again whether there is
   * any.
   */
  private final Map<Quarantine.Key, Long> onTrial = new HashMap<>();

  private long next = Long.MAX_VALUE;
  private boolean changed;
  private long revision;

  /**
   * @param batch the changes of this step for the store
   */
  public Quarantines(
      SchedulingCore core, LoopEvents events, Supplier<StoreTransaction.Builder> batch) {
    this.core = core;
    this.events = events;
    this.batch = batch;
  }

  /** Restores quarantines after a restart. */
  public void restore(List<Quarantine> stored) {
    for (Quarantine each : stored) {
      all.put(each.key(), each);
      close(each);
    }
    scheduleNext();
  }

  // ---- what tasks do

  /** Takes note of the end of a task that is still charged. */
  public void ended(Live task, TaskResult end, @Nullable Failure failure, long nowMillis) {
    String name = task.key.job();
    Quarantining mode = mode(name);
    if ((mode == Quarantining.OFF && all.isEmpty()) || task.isOfForgottenJob()) {
      return;
    }
    boolean succeeded = failure == null && end.kind() == TaskResult.Kind.EXITED;
    boolean failed = failure != null && end.stopReason() != StopReason.REQUESTED;
    if (!succeeded && !failed) {
      return;
    }
    List<String> levels = core.running().levels(task.run);
    List<String> path = core.running().path(task.run);
    List<Quarantine.Key> closed = keys(all, name, levels, path);
    for (Quarantine.Key key : closed) {
      Quarantine quarantine = all.get(key);
      if (quarantine != null
          && succeeded
          && quarantine.isAutomatic()
          && task.invocation().startMillis() > quarantine.sinceMillis()) {
        remove(key, "", "a task has succeeded there on trial", nowMillis);
      }
    }
    if (mode == Quarantining.OFF || !closed.isEmpty()) {
      return;
    }
    if (succeeded) {
      changed |= suggestions.keySet().removeAll(keys(suggestions, name, levels, path));
    }
    Fault fault = faults.ended(name, levels, path, failure == null ? null : failure.fingerprint());
    if (fault != null) {
      found(fault, name, mode, nowMillis);
    }
  }

  /** Takes note of a task that was placed: it may be one on trial, the only one for now. */
  public void placed(Live task, long nowMillis) {
    if (onTrial.isEmpty()) {
      return;
    }
    List<String> levels = core.running().levels(task.run);
    List<String> path = core.running().path(task.run);
    for (Quarantine.Key key : keys(all, task.key.job(), levels, path)) {
      Quarantine before = all.get(key);
      if (before != null && onTrial.remove(key) != null) {
        Quarantine tried = before.tried(nowMillis);
        put(tried);
        events.add(
            nowMillis,
            EventKind.QUARANTINE_TRIAL,
            event(tried, before.reason())
                .put("task_job", task.key.job())
                .put("task_node", task.key.node())
                .put("trial_at_ms", tried.trialMillis())
                .build());
      }
    }
  }

  private Quarantining mode(String name) {
    Job job = core.job(core.findJob(name));
    return job == null ? Quarantining.OFF : job.scheduling().quarantine();
  }

  /** Returns the keys of what concerns a job on a path. */
  private static List<Quarantine.Key> keys(
      Map<Quarantine.Key, Quarantine> of, String job, List<String> levels, List<String> path) {
    List<Quarantine.Key> keys = new ArrayList<>();
    for (int i = 0; !of.isEmpty() && i < levels.size(); i++) {
      for (String each : List.of(job, "")) {
        Quarantine.Key key = new Quarantine.Key(levels.get(i), path.get(i), each);
        if (of.containsKey(key)) {
          keys.add(key);
        }
      }
    }
    return keys;
  }

  // ---- what is found

  private void found(Fault fault, String job, Quarantining mode, long nowMillis) {
    Quarantine.Key key = new Quarantine.Key(fault.level(), fault.node(), job);
    String reason = fault.words(job);
    if (mode == Quarantining.SUGGEST) {
      suggest(key, reason, nowMillis);
    } else if (all.size() >= MOST || !isSmall(key)) {
      suggest(key, reason + "; so much of the tree is not closed without an operator", nowMillis);
    } else {
      List<Quarantine.Key> others = othersOn(key);
      others.forEach(other -> remove(other, "", "several jobs fail there", nowMillis));
      Quarantine.Key wider =
          others.isEmpty() ? key : new Quarantine.Key(key.level(), key.node(), "");
      begin(Quarantine.found(wider, reason, nowMillis), nowMillis);
    }
  }

  /** Returns the quarantines that the scheduler has set for other jobs on the same node. */
  private List<Quarantine.Key> othersOn(Quarantine.Key key) {
    return all.values().stream()
        .filter(Quarantine::isAutomatic)
        .map(Quarantine::key)
        .filter(each -> each.level().equals(key.level()) && each.node().equals(key.node()))
        .toList();
  }

  private void suggest(Quarantine.Key key, String reason, long nowMillis) {
    if (suggestions.containsKey(key) || suggestions.size() >= MOST_SUGGESTIONS) {
      return;
    }
    Quarantine suggested = Quarantine.suggested(key, reason, nowMillis);
    suggestions.put(key, suggested);
    changed = true;
    events.add(nowMillis, EventKind.QUARANTINE_SUGGESTED, event(suggested, reason).build());
  }

  /** Returns whether few leaves are closed with this one. */
  private boolean isSmall(Quarantine.Key key) {
    int leaves = core.topology().levels().worker() - 1;
    Topology nodes = core.topology();
    int most = (nodes.levelEnd(leaves) - nodes.levelStart(leaves)) / LEAVES_PER_CLOSED;
    int left = most - leavesBelow(key, leaves, most);
    for (Quarantine each : all.values()) {
      boolean isSameNode =
          each.key().level().equals(key.level()) && each.key().node().equals(key.node());
      if (left >= 0 && each.isAutomatic() && !isSameNode) {
        left -= leavesBelow(each.key(), leaves, left);
      }
    }
    return left >= 0;
  }

  /** Counts leaves until there are more than may be. */
  private int leavesBelow(Quarantine.Key key, int leaves, int most) {
    int level = core.topology().levels().find(key.level());
    int node = level < 0 ? -1 : core.topology().find(level, key.node());
    return node < 0 ? 0 : leavesBelow(node, core.topology().levelStart(leaves), most);
  }

  private int leavesBelow(int node, int firstLeaf, int most) {
    if (node >= firstLeaf) {
      return 1;
    }
    Topology nodes = core.topology();
    int count = 0;
    for (int at = nodes.childStart(node); at < nodes.childEnd(node) && count <= most; at++) {
      count += leavesBelow(nodes.node(at), firstLeaf, most - count);
    }
    return count;
  }

  // ---- what operators do

  /**
   * Sets a quarantine without trials.
   *
   * @throws RefusedException when there is no such job, or there are too many quarantines
   */
  public Quarantine set(Quarantine.Key key, String author, String reason, long nowMillis) {
    if (!key.job().isEmpty() && core.findJob(key.job()) < 0) {
      throw new RefusedException(RefusedException.Reason.UNKNOWN, "there is no job " + key.job());
    }
    if (all.size() >= MOST && !all.containsKey(key)) {
      throw new RefusedException(
          RefusedException.Reason.CONFLICT,
          "there are " + MOST + " quarantines already: lift some, or set one on a larger part");
    }
    Quarantine quarantine = Quarantine.ordered(key, author, reason, nowMillis);
    begin(quarantine, nowMillis);
    return quarantine;
  }

  /**
   * Lifts a quarantine, or discards a suggestion.
   *
   * @param key its level may be empty if there is only one of that node and job
   * @throws RefusedException when there is none
   */
  public Quarantine lift(Quarantine.Key key, String author, String reason, long nowMillis) {
    List<Quarantine> meant =
        all().stream()
            .filter(each -> key.level().isEmpty() || key.level().equals(each.key().level()))
            .filter(each -> key.node().equals(each.key().node()))
            .filter(each -> key.job().equals(each.key().job()))
            .toList();
    if (meant.size() != 1) {
      throw meant.isEmpty()
          ? new RefusedException(
              RefusedException.Reason.UNKNOWN, "there is no quarantine of " + key)
          : new RefusedException(
              RefusedException.Reason.CONFLICT,
              "several levels have a quarantine of " + key.node() + ": name the level");
    }
    Quarantine lifted = meant.get(0);
    if (suggestions.remove(lifted.key()) == null) {
      remove(lifted.key(), author, reason, nowMillis);
    }
    faults.forgive(lifted.key().job());
    changed = true;
    return lifted;
  }

  // ---- state

  /** Lifts what the scheduler has set for jobs that do not ask for it any more. */
  @Override
  public void configured(long nowMillis) {
    Set<String> asking = new HashSet<>();
    core.config()
        .jobs()
        .values()
        .forEach(
            job -> {
              if (job.scheduling().quarantine() != Quarantining.OFF) {
                asking.add(job.name());
              }
            });
    faults.retain(asking);
    changed |= suggestions.keySet().removeIf(key -> !asking.contains(key.job()));
    for (Quarantine each : List.copyOf(all.values())) {
      String job = each.key().job();
      if (each.isAutomatic() && !job.isEmpty() && mode(job) != Quarantining.AUTO) {
        remove(each.key(), "", "the job does not ask for it any more", nowMillis);
      }
    }
  }

  /**
   * Opens the nodes on which a trial is due.
   *
   * @return whether something has changed since the last call
   */
  @Override
  public boolean step(long nowMillis) {
    if (nowMillis >= next) {
      for (Quarantine each : List.copyOf(all.values())) {
        if (each.isAutomatic() && due(each) <= nowMillis) {
          tryAgain(each.key(), nowMillis);
        }
      }
      scheduleNext();
    }
    boolean was = changed;
    changed = false;
    return was;
  }

  /** When a trial may begin; once it may, when to look whether anything is left to try. */
  private long due(Quarantine quarantine) {
    return onTrial.getOrDefault(quarantine.key(), quarantine.trialMillis());
  }

  private void tryAgain(Quarantine.Key key, long nowMillis) {
    int level = core.topology().levels().find(key.level());
    int node = level < 0 ? -1 : core.topology().find(level, key.node());
    if (node >= 0 && new TasksLeft(core).isNone(key.job(), node)) {
      remove(key, "", "nothing is left to try there", nowMillis);
    } else if (onTrial.put(key, nowMillis + LOOK_MILLIS) == null) {
      core.gates().open(kind(key), scope(key));
    }
  }

  /** The next trial. */
  @Override
  public long nextMillis() {
    return next;
  }

  @Override
  public boolean mayOpen() {
    return next != Long.MAX_VALUE;
  }

  @Override
  public void problems(BiConsumer<String, @Nullable String> told) {
    told.accept("quarantine", problem());
  }

  @Override
  public void stats(LoopStats stats) {
    stats.quarantines(all.size());
  }

  /** Returns the quarantines and the suggestions, by node and job. */
  public List<Quarantine> all() {
    List<Quarantine> both = new ArrayList<>(all.values());
    both.addAll(suggestions.values());
    both.sort(Quarantine.ORDER);
    return both;
  }

  /** Returns a number that changes whenever {@link #nodesClosedTo} may change; from 0. */
  public long revision() {
    return revision;
  }

  /** Returns the nodes that are in quarantine for a job or for all jobs, also during a trial. */
  public List<Scope> nodesClosedTo(String job) {
    return all.keySet().stream()
        .filter(key -> key.job().isEmpty() || key.job().equals(job))
        .map(key -> Scope.node(key.level(), key.node()))
        .toList();
  }

  /** Returns what is suggested; null: nothing. */
  private @Nullable String problem() {
    if (suggestions.isEmpty()) {
      return null;
    }
    int more = suggestions.size() - 1;
    return suggestions.values().iterator().next().reason()
        + (more == 0 ? "" : " (and " + more + " more)");
  }

  private void begin(Quarantine quarantine, long nowMillis) {
    Quarantine.Key key = quarantine.key();
    suggestions.keySet().removeIf(each -> covers(key, each));
    onTrial.remove(key);
    put(quarantine);
    Json.Builder event = event(quarantine, quarantine.reason());
    if (quarantine.isAutomatic()) {
      event.put("trial_at_ms", quarantine.trialMillis());
    }
    if (!quarantine.author().isEmpty()) {
      event.put("author", quarantine.author());
    }
    events.add(nowMillis, EventKind.QUARANTINE_SET, event.build());
  }

  private static boolean covers(Quarantine.Key key, Quarantine.Key other) {
    return key.level().equals(other.level())
        && key.node().equals(other.node())
        && (key.job().isEmpty() || key.job().equals(other.job()));
  }

  private void put(Quarantine quarantine) {
    all.put(quarantine.key(), quarantine);
    revision++;
    batch.get().quarantine(quarantine);
    close(quarantine);
    scheduleNext();
    changed = true;
  }

  private void remove(Quarantine.Key key, String author, String reason, long nowMillis) {
    Quarantine lifted = all.remove(key);
    if (lifted == null) {
      return;
    }
    revision++;
    onTrial.remove(key);
    core.gates().open(kind(key), scope(key));
    batch.get().endQuarantine(key);
    faults.forgive(key.job());
    scheduleNext();
    changed = true;
    Json.Builder event = event(lifted, reason);
    if (!author.isEmpty()) {
      event.put("author", author);
    }
    events.add(nowMillis, EventKind.QUARANTINE_LIFTED, event.build());
  }

  private void close(Quarantine each) {
    core.gates()
        .close(
            new Gate(
                kind(each.key()),
                scope(each.key()),
                each.author(),
                each.reason(),
                each.sinceMillis(),
                each.trialMillis()));
  }

  private void scheduleNext() {
    next = Long.MAX_VALUE;
    for (Quarantine each : all.values()) {
      if (each.isAutomatic()) {
        next = Math.min(next, due(each));
      }
    }
  }

  private static GateKind kind(Quarantine.Key key) {
    return key.job().isEmpty() ? GateKind.NODE_QUARANTINE : GateKind.JOB_QUARANTINE;
  }

  private static Scope scope(Quarantine.Key key) {
    return key.job().isEmpty()
        ? Scope.node(key.level(), key.node())
        : Scope.jobOnNode(key.job(), key.level(), key.node());
  }

  private static Json.Builder event(Quarantine of, String reason) {
    Json.Builder event = Json.object().put("level", of.key().level()).put("node", of.key().node());
    if (!of.key().job().isEmpty()) {
      event.put("job", of.key().job());
    }
    return event.put("reason", reason);
  }
}
