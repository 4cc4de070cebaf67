package io.espalier.testkit.oracle;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.api.view.Explanation.Kind;
import io.espalier.core.outcome.JobCounts;
import io.espalier.core.scheduling.SchedulingCore;
import io.espalier.core.scheduling.gate.Gate;
import io.espalier.core.scheduling.gate.GateKind;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Blocks whole jobs, each for its own reasons, and checks that the core reports every job whose
 * state may have changed.
 */
public final class OracleJobBlocks {
  private static final List<GateKind> KINDS =
      List.of(
          GateKind.DEADLINE,
          GateKind.JOB_FAILED,
          GateKind.JOB_SUCCEEDED,
          GateKind.JOB_BRAKE,
          GateKind.JOB_WINDOW);

  private final Map<String, Set<GateKind>> closed = new HashMap<>();
  private final Map<String, JobCounts> seen = new HashMap<>();

  /** The jobs that have no room for another start in flight. */
  private final Set<String> starting = new HashSet<>();

  /** By job with a roll-out: the nodes whose tasks are in the open stages. */
  private final Map<String, Set<String>> inOpenStages = new HashMap<>();

  /** Sets the nodes whose tasks are in the open stages of a job; null: all are. */
  public void stages(String job, @Nullable Set<String> nodes) {
    if (nodes == null) {
      inOpenStages.remove(job);
    } else {
      inOpenStages.put(job, nodes);
    }
  }

  /** Returns whether the task of a job on a node is in a stage that is not open. */
  public boolean waitsForStage(String job, String node) {
    Set<String> nodes = inOpenStages.get(job);
    return nodes != null && !nodes.contains(node);
  }

  /** Blocks or unblocks a job at random. */
  public void change(Random random, SchedulingCore core, String job) {
    GateKind kind = KINDS.get(random.nextInt(KINDS.size()));
    Set<GateKind> gates = gates(job);
    if (random.nextInt(3) == 0) {
      core.gates().close(Gate.of(kind, job, "by chance"));
      gates.add(kind);
    } else {
      core.gates().open(kind, job);
      gates.remove(kind);
    }
    assertThat(core.gates().isEnded(job)).isEqualTo(gates.stream().anyMatch(GateKind::endsJob));
  }

  private Set<GateKind> gates(String job) {
    return closed.computeIfAbsent(job, name -> EnumSet.noneOf(GateKind.class));
  }

  /** Sets whether a job has no room for another start in flight. */
  public void starting(String job, boolean isFull) {
    if (isFull) {
      starting.add(job);
    } else {
      starting.remove(job);
    }
  }

  List<Kind> of(String job) {
    List<Kind> kinds = new ArrayList<>(gates(job).stream().map(GateKind::explanation).toList());
    if (starting.contains(job)) {
      kinds.add(Kind.STARTING);
    }
    return kinds;
  }

  /** Returns whether a gate that is no lack of room is closed. */
  boolean isInactive(String job) {
    return !gates(job).isEmpty();
  }

  /** Checks after a step that the core has reported every job whose counts changed. */
  public void check(SchedulingCore core) {
    Set<String> touched = new HashSet<>();
    for (int job : core.takeTouched(Integer.MAX_VALUE)) {
      touched.add(core.jobName(job));
    }
    for (int job = 0; job < core.jobCount(); job++) {
      JobCounts tally = core.tasks().tally(job);
      String name = core.jobName(job);
      if (!tally.equals(seen.put(name, tally))) {
        assertThat(touched).as("jobs with another tally").contains(name);
      }
    }
  }
}
