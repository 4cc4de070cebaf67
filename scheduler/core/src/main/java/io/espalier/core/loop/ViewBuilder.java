package io.espalier.core.loop;

import io.espalier.core.api.JobProgress;
import io.espalier.core.api.SchedulerView;
import io.espalier.core.api.SupervisorFindings;
import io.espalier.core.config.Config;
import io.espalier.core.problem.Problem;
import io.espalier.core.scheduling.SchedulingCore;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Publishes what monitors read, not more often than they can look. */
final class ViewBuilder {
  /** The longest time between two views of a scheduler that does nothing: keeps it healthy. */
  private static final long HEARTBEAT_MILLIS = 1_000;

  private final SchedulingCore core;
  private final LiveTasks live;
  private final String shard;
  private final JobOutcomes outcomes;
  private final Pauses pauses;
  private final ProgressTable progress;
  private final Map<String, String> errors = new TreeMap<>();
  private List<Problem> configProblems = List.of();
  private SupervisorFindings findings = SupervisorFindings.NONE;
  private boolean dirty = true;
  private boolean hasConfig;
  private long nodesAtMillis;
  private long publishedAt = Long.MIN_VALUE / 2;

  ViewBuilder(
      SchedulingCore core,
      LiveTasks live,
      String shard,
      JobOutcomes outcomes,
      Paces paces,
      Pauses pauses) {
    this.core = core;
    this.live = live;
    this.shard = shard;
    this.outcomes = outcomes;
    this.pauses = pauses;
    this.progress = new ProgressTable(core, paces, core::isClosed);
  }

  void changed() {
    dirty = true;
  }

  void inForce(long nodesFetchedAtMillis) {
    hasConfig = true;
    nodesAtMillis = nodesFetchedAtMillis;
    dirty = true;
  }

  void configProblems(List<Problem> problems) {
    configProblems = List.copyOf(problems);
    dirty = true;
  }

  /** Of the configuration, and of what node sources deliver for it. */
  private List<Problem> problems() {
    List<Problem> ofNodes = hasConfig ? core.nodeProblems() : List.of();
    if (ofNodes.isEmpty()) {
      return configProblems;
    }
    List<Problem> all = new ArrayList<>(configProblems);
    // Where the parser has found it without knowing the nodes it is said once.
    Set<String> said = configProblems.stream().map(Problem::path).collect(Collectors.toSet());
    ofNodes.stream().filter(p -> p.path().isEmpty() || !said.contains(p.path())).forEach(all::add);
    return all;
  }

  void error(String source, @Nullable String message) {
    String before = message == null ? errors.remove(source) : errors.put(source, message);
    dirty |= message == null ? before != null : !message.equals(before);
  }

  void found(SupervisorFindings newest) {
    findings = newest;
  }

  /**
   * Publishes when there is news and the last view is old enough.
   *
   * @return when to be called again
   */
  long publishIfDue(long nowMillis, Consumer<SchedulerView> views) {
    long due = publishedAt + (dirty ? SchedulerLoop.VIEW_MILLIS : HEARTBEAT_MILLIS);
    if (nowMillis < due) {
      return due;
    }
    views.accept(view(nowMillis));
    publishedAt = nowMillis;
    dirty = false;
    return nowMillis + HEARTBEAT_MILLIS;
  }

  Map<String, JobProgress> progress() {
    return hasConfig ? progress.counts() : Map.of();
  }

  private SchedulerView view(long nowMillis) {
    Config config = hasConfig ? core.config() : null;
    return new SchedulerView(
        config,
        problems(),
        config == null ? null : core.topology(),
        nodesAtMillis,
        config == null ? Map.of() : progress.paced(nowMillis, !dirty),
        live.view(shard),
        Map.copyOf(errors),
        pauses.all(),
        config == null ? Map.of() : outcomes.all(),
        findings,
        nowMillis);
  }
}
