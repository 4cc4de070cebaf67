package io.espalier.core.fault;

import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Finds the node below which the failures of a job concentrate (docs/adr/0080-quarantine.md).
 *
 * <p>For each job and each inner node below which a task has failed, it counts the ends there, and
 * compares them with those of the rest of the tree by the logarithm of their likelihood ratio: for
 * all failures together, and for each cause. A task that fails again counts once until it succeeds,
 * so that one broken task is no broken host; but each failure is a look at the nodes above it, for
 * what has ended elsewhere since. The first failure below a node only begins its count: it is why
 * the node is looked at, so it is no evidence. Counts are halved now and then, so that they tell
 * about the last ends.
 *
 * <p>The answers are a function of the calls. An end takes time proportional to the depth of the
 * tree; memory is bounded. Not thread-safe.
 */
public final class FaultLocator {
  /** Fewer failures show nothing. */
  static final int LEAST_FAILURES = 5;

  /** How many ends elsewhere are needed for a comparison. */
  static final int LEAST_ELSEWHERE = 20;

  /**
   * The least logarithm of the likelihood ratio. By chance it is reached once in about e^20 looks,
   * so the number of nodes does not matter.
   */
  private static final double SURE = 20;

  private static final int NODE_WINDOW = 128;
  private static final int JOB_WINDOW = 1024;
  private static final int MOST_CAUSES = 8;
  private static final int MOST_NODES = 10_000;
  private static final int MOST_FAILING = 10_000;

  private record Place(String job, String level, String node) {}

  /** The ends of one part of the tree. */
  private static final class Counts {
    int ended;
    int failed;
    final Map<String, Integer> causes = new HashMap<>();

    void add(@Nullable String cause, int window) {
      ended++;
      if (cause != null) {
        failed++;
        if (causes.size() < MOST_CAUSES || causes.containsKey(cause)) {
          causes.merge(cause, 1, Integer::sum);
        }
      }
      if (ended >= window) {
        ended /= 2;
        failed /= 2;
        causes.replaceAll((each, count) -> count / 2);
        causes.values().removeIf(count -> count == 0);
      }
    }

    int of(@Nullable String cause) {
      return cause == null ? failed : causes.getOrDefault(cause, 0);
    }
  }

  private static final class JobCounts {
    final Counts all = new Counts();

    /** The tasks that have failed since they last succeeded, oldest first. */
    final Set<String> failing = new LinkedHashSet<>();
  }

  private final Map<String, JobCounts> jobs = new HashMap<>();
  private final Map<Place, Counts> nodes =
      new LinkedHashMap<>() {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Place, Counts> eldest) {
          return size() > MOST_NODES;
        }
      };

  /**
   * Counts the end of a task.
   *
   * @param levels the levels of its path, from the instance down to its own
   * @param path the names of these nodes
   * @param cause fingerprint of its failure; null: it succeeded
   * @return the lowest node that explains the failures best, whose counts then begin again with
   *     those above it; null: the failures are not concentrated, as far as is known
   */
  public @Nullable Fault ended(
      String job, List<String> levels, List<String> path, @Nullable String cause) {
    int last = levels.size() - 1;
    if (last < 1) {
      return null;
    }
    JobCounts ofJob = jobs.computeIfAbsent(job, name -> new JobCounts());
    String task = path.get(last);
    boolean isCounted = true;
    if (cause == null) {
      ofJob.failing.remove(task);
    } else if (!ofJob.failing.add(task)) {
      isCounted = false;
    } else if (ofJob.failing.size() > MOST_FAILING) {
      Iterator<String> oldest = ofJob.failing.iterator();
      oldest.next();
      oldest.remove();
    }
    if (isCounted) {
      ofJob.all.add(cause, JOB_WINDOW);
    }
    int best = -1;
    double most = SURE;
    for (int i = 1; i < last; i++) {
      Place place = new Place(job, levels.get(i), path.get(i));
      Counts counts = nodes.get(place);
      if (counts == null && cause != null && isCounted) {
        nodes.put(place, new Counts());
      } else if (counts != null) {
        if (isCounted) {
          counts.add(cause, NODE_WINDOW);
        }
        if (counts.failed == 0 && cause == null && counts.ended >= NODE_WINDOW / 2) {
          nodes.remove(place);
        }
        double sure =
            cause == null
                ? 0
                : Math.max(sure(counts, ofJob.all, null), sure(counts, ofJob.all, cause));
        if (sure >= most) {
          most = sure;
          best = i;
        }
      }
    }
    return best < 0 ? null : found(job, levels, path, best, ofJob.all);
  }

  private Fault found(String job, List<String> levels, List<String> path, int at, Counts all) {
    String level = levels.get(at);
    Counts counts = nodes.getOrDefault(new Place(job, level, path.get(at)), new Counts());
    String parent = at < 2 ? "" : levels.get(at - 1) + " " + path.get(at - 1);
    int failed = counts.failed + 1;
    int ended = counts.ended + 1;
    for (int i = 1; i <= at; i++) {
      nodes.remove(new Place(job, levels.get(i), path.get(i)));
    }
    return new Fault(
        level,
        path.get(at),
        parent,
        failed,
        ended,
        Math.max(0, all.failed - failed),
        Math.max(0, all.ended - ended));
  }

  /** Forgets which tasks of a job have failed; empty: of all jobs. */
  public void forgive(String job) {
    jobs.forEach(
        (name, counts) -> {
          if (job.isEmpty() || job.equals(name)) {
            counts.failing.clear();
          }
        });
  }

  /** Forgets all jobs but these. */
  public void retain(Set<String> names) {
    jobs.keySet().retainAll(names);
    nodes.keySet().removeIf(place -> !names.contains(place.job()));
  }

  /**
   * Returns the logarithm of the likelihood ratio of "it fails more often there" to "it fails
   * equally often everywhere"; 0 where fewer than half of the tasks there fail.
   */
  private static double sure(Counts there, Counts all, @Nullable String cause) {
    int failed = there.of(cause);
    int elsewhere = all.ended - there.ended - 1;
    int failedElsewhere = Math.max(0, all.of(cause) - failed - 1);
    if (failed + 1 < LEAST_FAILURES
        || elsewhere < LEAST_ELSEWHERE
        || 2 * failed < there.ended
        || (double) failed / there.ended <= (double) failedElsewhere / elsewhere) {
      return 0;
    }
    return likelihood(failed, there.ended)
        + likelihood(failedElsewhere, elsewhere)
        - likelihood(failed + failedElsewhere, there.ended + elsewhere);
  }

  /** The logarithm of the likelihood of so many failures at the rate that they show. */
  private static double likelihood(int failed, int ended) {
    return term(failed, ended) + term(ended - failed, ended);
  }

  private static double term(int part, int whole) {
    return part == 0 ? 0 : part * Math.log((double) part / whole);
  }
}
