package io.espalier.core.scheduling.query;

import io.espalier.core.api.view.Explanation.Kind;
import io.espalier.core.api.view.Explanation.Reason;
import io.espalier.core.config.label.LabelExpression;
import io.espalier.core.running.WorkerInfo;
import io.espalier.core.scheduling.capacity.NodeCapacity;
import io.espalier.core.scheduling.reservation.CapacityReservation;
import io.espalier.core.scheduling.state.SchedulingState;
import io.espalier.core.scheduling.worker.WorkerIndex;
import io.espalier.core.scheduling.worker.WorkerTable;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Explains why no worker can take a task. Considering all workers or those of the required host, it
 * returns the first reason that applies: no worker is connected; none takes tasks; the filter
 * excludes all that do; none of the others has enough capacity. In the last case it lists the
 * shortages of the nearest worker, which lacks the fewest resources, then the fewest slots, and is
 * first by name among equals.
 */
final class WorkerExplainer {
  /** How many different combinations of labels are listed. */
  private static final int MOST_SHOWN = 5;

  private final SchedulingState state;
  private final WorkerIndex index;
  private final WorkerTable table;

  /** The name of the instance node, which also names the scheduler's own host. */
  private final String instance;

  WorkerExplainer(SchedulingState state) {
    this.state = state;
    index = state.workers;
    table = state.pool;
    instance = state.topology.name(0);
  }

  /**
   * @param host the required host; null: any
   * @return empty when a worker can take the task
   */
  List<Reason> reasons(int job, @Nullable String host) {
    if (index.finds(job, host)) {
      return List.of();
    }
    String where = host == null ? "" : " on host " + host + ", where the task must run,";
    List<Integer> all = new ArrayList<>();
    List<Integer> taking = new ArrayList<>();
    List<Integer> passing = new ArrayList<>();
    Map<String, Integer> states = new TreeMap<>();
    Map<String, Integer> fitting = new TreeMap<>();
    for (int worker : table.pool()) {
      WorkerInfo info = table.info(worker);
      if (info != null && (host == null || host.equals(info.host()))) {
        all.add(worker);
        if (info.takesTasks()) {
          taking.add(worker);
          if (index.passes(job, worker)) {
            passing.add(worker);
          }
        } else {
          states.merge(stateName(info), 1, Integer::sum);
          if (index.labels(job).holds(info.labels())) {
            fitting.merge(stateName(info), 1, Integer::sum);
          }
        }
      }
    }
    if (all.isEmpty()) {
      return List.of(reason(host, "no worker" + where + " is connected"));
    }
    if (taking.isEmpty()) {
      return List.of(
          reason(host, "none of " + count(all) + where + " takes tasks now: " + shown(states)));
    }
    String mismatch = mismatch(job, taking);
    if (passing.isEmpty() && mismatch != null) {
      String idle =
          fitting.isEmpty() ? "" : "; of those that fit, none takes tasks now: " + shown(fitting);
      return List.of(reason(host, "no worker" + where + " fits " + mismatch + idle));
    }
    if (passing.isEmpty()) {
      return List.of(
          reason(
              host,
              "the worker filter of the job excludes all of "
                  + count(taking)
                  + where
                  + " that take tasks"));
    }
    return nearest(job, passing);
  }

  /**
   * Returns the job's condition on labels and the labels that the workers have in place of it; null
   * when some worker fulfils the condition.
   */
  private @Nullable String mismatch(int job, List<Integer> workers) {
    LabelExpression labels = index.labels(job);
    Set<String> names = new TreeSet<>();
    labels.addNames(names);
    Map<String, Integer> found = new LinkedHashMap<>();
    for (int worker : workers) {
      WorkerInfo info = table.info(worker);
      Map<String, String> own = info == null ? Map.of() : info.labels();
      if (labels.holds(own)) {
        return null;
      }
      found.merge(
          names.stream()
              .map(name -> own.containsKey(name) ? name + "=" + own.get(name) : "no " + name)
              .collect(Collectors.joining(", ")),
          1,
          Integer::sum);
    }
    List<String> parts = new ArrayList<>();
    found.forEach((have, count) -> parts.add(counted(count) + have));
    String more = parts.size() > MOST_SHOWN ? "; ..." : "";
    return "`"
        + labels
        + "`: "
        + String.join("; ", parts.subList(0, Math.min(MOST_SHOWN, parts.size())))
        + more;
  }

  private static String counted(int workers) {
    return workers == 1 ? "1 worker has " : workers + " workers have ";
  }

  private static String count(List<Integer> workers) {
    return workers.size() == 1 ? "1 worker" : workers.size() + " workers";
  }

  private static String stateName(WorkerInfo info) {
    // A healthy worker that takes no tasks was cordoned.
    return info.state() == WorkerInfo.State.HEALTHY
        ? "cordoned"
        : info.state().name().toLowerCase(Locale.ROOT);
  }

  private static String shown(Map<String, Integer> states) {
    List<String> parts = new ArrayList<>();
    states.forEach((name, count) -> parts.add(count + " " + name));
    return String.join(", ", parts);
  }

  private static Reason reason(@Nullable String host, String message) {
    return Reason.of(Kind.NO_WORKER, host, message);
  }

  private List<Reason> nearest(int job, List<Integer> workers) {
    int best = -1;
    int bestShort = 0;
    long bestMissing = 0;
    for (int worker : workers) {
      int missing = (index.isFullFor(job, worker) ? 1 : 0) + (table.isHeld(worker) ? 1 : 0);
      long slots = 0;
      for (int k = 0; k < index.capacity().resources().size(); k++) {
        int need = index.need(job, k);
        if (!NodeCapacity.fits(need, index.freeFor(job, worker, k))) {
          missing++;
          slots += (long) need - index.freeFor(job, worker, k);
        }
      }
      boolean nearer =
          best < 0
              || missing < bestShort
              || (missing == bestShort
                  && (slots < bestMissing
                      || (slots == bestMissing
                          && table.shard(worker).compareTo(table.shard(best)) < 0)));
      if (nearer) {
        best = worker;
        bestShort = missing;
        bestMissing = slots;
      }
    }
    return shortages(job, best, workers.size());
  }

  private List<Reason> shortages(int job, int worker, int ofWorkers) {
    String shard = table.shard(worker);
    String node = shard.isEmpty() ? instance : shard;
    String where =
        shard.isEmpty()
            ? " on this host"
            : " on worker " + shard + (ofWorkers == 1 ? "" : ", the nearest of " + ofWorkers);
    List<Reason> reasons = new ArrayList<>();
    if (table.isHeld(worker)) {
      String starts = "starts" + where + (ofWorkers == 1 ? "" : ",");
      reasons.add(Reason.of(Kind.STARTING, node, starts + " are begun and not confirmed"));
    }
    String kept = kept(worker);
    if (index.isFullFor(job, worker)) {
      String more =
          index.capacity().isFull(worker) ? ", no more at once" : ", and one more is " + kept;
      reasons.add(reason(node, index.tasks(worker) + " tasks run" + where + more));
    }
    for (int k = 0; k < index.capacity().resources().size(); k++) {
      int need = index.need(job, k);
      int free = index.capacity().free(worker, k);
      if (!NodeCapacity.fits(need, index.freeFor(job, worker, k))) {
        String name = index.capacity().resources().get(k).name();
        int limit = index.capacity().limit(worker, k);
        String message =
            "needs "
                + need
                + " of "
                + name
                + ", "
                + LimitMessages.free(free, limit)
                + where
                + (NodeCapacity.fits(need, free) ? ", but " + kept : "")
                + (!NodeCapacity.fits(need, free) && index.keptFor(worker) == job
                    ? "; " + kept
                    : "")
                + (need > limit ? "; it can never start there while the limit is " + limit : "")
                + EntryMessages.of(index.capacity().overrideOf(worker, k), -1);
        reasons.add(Reason.of(Kind.NO_WORKER, node, message).lacking(name, need, free, limit));
      }
    }
    return reasons;
  }

  private String kept(int worker) {
    int holder = index.keptFor(worker);
    return holder < 0
        ? ""
        : "kept free for job "
            + state.jobs.name(holder)
            + ", since "
            + CapacityReservation.shown(state.rooms.workers().keptSince(holder));
  }
}
