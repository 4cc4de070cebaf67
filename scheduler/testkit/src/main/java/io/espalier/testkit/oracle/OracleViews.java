package io.espalier.testkit.oracle;

import io.espalier.core.config.Job;
import io.espalier.core.status.TaskKey;
import io.espalier.core.status.TaskStatus;
import io.espalier.core.status.TaskStatus.Main;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** What people see of tasks: the bits of their statuses, histograms, and orphans. */
public final class OracleViews {
  private final Oracle oracle;

  OracleViews(Oracle oracle) {
    this.oracle = oracle;
  }

  private OracleTree tree() {
    return oracle.tree();
  }

  /** Returns the bits of a task as in histograms (docs/design/bistro.md#histograms). */
  public int bits(TaskKey task) {
    Job job = oracle.job(task.job());
    OracleTree.Verdict verdict = tree().verdict(job, tree().node(job, task.node()));
    int bits =
        switch (verdict) {
          case YES -> 0;
          case AVOIDED -> TaskStatus.AVOIDED;
          case DISABLED -> TaskStatus.DISABLED;
        };
    TaskStatus status = oracle.status(task);
    if (oracle.running().containsKey(task)) {
      return bits | Main.RUNNING.bit();
    }
    if (status == null) {
      return bits == 0 ? Main.UNSTARTED.bit() : bits;
    }
    if (status.main() == Main.CANCELLED) {
      return bits | Main.CANCELLED.bit();
    }
    int own = status.bits();
    return bits
        | (oracle.waits(status) ? own | TaskStatus.USES_BACKOFF : own & ~TaskStatus.USES_BACKOFF);
  }

  /** Returns, by level name and bits, the number of nodes. */
  public Map<String, Map<Integer, Long>> histogram(Job job) {
    Map<Integer, Integer> byNode = new HashMap<>();
    for (TaskKey task : oracle.tasks(job)) {
      int node = tree().node(job, task.node());
      int bits = bits(task);
      Set<Integer> above = new HashSet<>();
      for (List<Integer> path : tree().paths(node)) {
        path.forEach(slot -> above.add(oracle.topology().node(slot)));
      }
      above.forEach(n -> byNode.merge(n, bits, (a, b) -> a | b));
    }
    Map<String, Map<Integer, Long>> histogram = new HashMap<>();
    byNode.forEach(
        (node, bits) ->
            histogram
                .computeIfAbsent(
                    oracle.topology().levels().name(oracle.topology().level(node)),
                    l -> new TreeMap<>())
                .merge(bits, 1L, Long::sum));
    return histogram;
  }

  /** Returns the running tasks that should not run (docs/design/bistro.md#orphans). */
  public Set<TaskKey> orphans() {
    Set<TaskKey> orphans = new HashSet<>();
    for (TaskKey task : oracle.running().keySet()) {
      Job job = oracle.config().job(task.job());
      if (job == null || !job.canRun() || !tree().isEnabledSomewhere(job, task.node())) {
        orphans.add(task);
      }
    }
    return orphans;
  }
}
