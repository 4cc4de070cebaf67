package io.espalier.core.scheduling.reservation;

import io.espalier.core.config.Job;
import io.espalier.core.config.Resource;
import io.espalier.core.config.ResourceCatalog;
import io.espalier.core.scheduling.job.JobTable;
import io.espalier.core.topology.Topology;
import java.util.Arrays;
import java.util.Objects;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The heavy jobs: jobs that others can starve forever although every startable task is started,
 * because a lighter task takes freed slots before there are enough for a heavy one. They are
 * determined by the needs of jobs alone.
 *
 * <p>A job is heavy in two cases: another job needs less of a resource, but more than 0; or the job
 * needs two resources, and each of them is used by jobs that need less of the other, so that both
 * are hardly ever free at the same time. The cost is the number of jobs times the square of the
 * number of resources; pairs of jobs are not compared.
 */
public final class StarvableJobs {
  private final long[] @Nullable [] onLevel;

  private StarvableJobs(long[] @Nullable [] onLevel) {
    this.onLevel = onLevel;
  }

  /** Returns the heavy jobs of the tree; null: none exists, or none has reservations enabled. */
  public static @Nullable StarvableJobs of(
      Topology topology, ResourceCatalog catalog, JobTable jobs) {
    int[] levelOf = catalog.all().stream().mapToInt(Resource::level).toArray();
    int worker = topology.levels().worker();
    int[] placed =
        IntStream.range(0, jobs.count())
            .filter(j -> jobs.levels[j] >= 0 && jobs.levels[j] < worker)
            .toArray();
    long[] heavy = new long[jobs.words];
    mark(heavy, jobs, placed, j -> onPath(jobs.needs[j], levelOf, jobs.levels[j]));
    long[][] onLevel = new long[topology.levels().count()][];
    for (int j : placed) {
      int[] needs = onPath(jobs.needs[j], levelOf, jobs.levels[j]);
      for (int r = 0; (heavy[j >>> 6] & 1L << j) != 0 && r < needs.length; r++) {
        if (needs[r] > 0) {
          long[] bits = onLevel[levelOf[r]];
          bits = bits == null ? new long[jobs.words] : bits;
          bits[j >>> 6] |= 1L << j;
          onLevel[levelOf[r]] = bits;
        }
      }
    }
    return Arrays.stream(onLevel).anyMatch(Objects::nonNull) ? new StarvableJobs(onLevel) : null;
  }

  /** Returns the needs on nodes of a task's path; needs on other levels are 0. */
  private static int[] onPath(int[] needs, int[] levelOf, int level) {
    int[] counted = new int[needs.length];
    for (int r = 0; r < needs.length; r++) {
      counted[r] = levelOf[r] <= level ? needs[r] : 0;
    }
    return counted;
  }

  /** Returns the bits of the heavy jobs that need slots of nodes on a level; null: none. */
  long @Nullable [] onLevel(int level) {
    return onLevel[level];
  }

  /** Returns the deepest level on which heavy jobs need slots. */
  int deepestLevel() {
    int level = onLevel.length - 1;
    while (onLevel[level] == null) {
      level--;
    }
    return level;
  }

  /**
   * Sets the bits of those jobs that have reservations enabled and that the others can starve.
   *
   * @param among the jobs that share the capacity
   * @param needs the needs of a job, by resource
   */
  static void mark(long[] heavy, JobTable jobs, int[] among, IntFunction<int[]> needs) {
    if (Arrays.stream(among).noneMatch(job -> mayReserve(jobs.job(job)))) {
      return;
    }
    Least least = null;
    for (int job : among) {
      if (jobs.job(job) != null) {
        int[] its = needs.apply(job);
        least = least == null ? new Least(its.length) : least;
        least.add(its);
      }
    }
    for (int job : among) {
      if (least != null && mayReserve(jobs.job(job)) && least.starve(needs.apply(job))) {
        heavy[job >>> 6] |= 1L << job;
      }
    }
  }

  private static boolean mayReserve(@Nullable Job job) {
    return job != null && job.scheduling().reserveAfter().isPresent();
  }

  /** By two resources: the smallest need of the second among the jobs that use the first. */
  private static final class Least {
    private final int resources;
    private final int[] least;

    Least(int resources) {
      this.resources = resources;
      least = new int[resources * resources];
      Arrays.fill(least, Integer.MAX_VALUE);
    }

    void add(int[] needs) {
      for (int a = 0; a < resources; a++) {
        for (int b = 0; needs[a] > 0 && b < resources; b++) {
          least[a * resources + b] = Math.min(least[a * resources + b], needs[b]);
        }
      }
    }

    /** Returns whether the added jobs can starve a job with these needs. */
    boolean starve(int[] needs) {
      for (int a = 0; a < resources; a++) {
        for (int b = 0; needs[a] > 0 && b < resources; b++) {
          if (least[a * resources + b] < needs[b] && least[b * resources + a] < needs[a]) {
            return true;
          }
        }
      }
      return false;
    }
  }
}
