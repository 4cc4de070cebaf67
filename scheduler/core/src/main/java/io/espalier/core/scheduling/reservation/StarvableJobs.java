package io.espalier.core.scheduling.reservation;

import io.espalier.core.config.Job;
import io.espalier.core.config.Resource;
import io.espalier.core.config.ResourceCatalog;
import io.espalier.core.scheduling.job.JobTable;
import io.espalier.core.topology.Topology;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The heavy jobs: jobs that others can starve forever although every startable task is started,
 * because a lighter task takes freed slots before there are enough for a heavy one. They are
 * determined once per scheduling state, by comparing the needs of jobs rather than the nodes.
 *
 * <p>A job is heavy in two cases: another job needs less of a resource, but more than 0; or the job
 * needs two resources, and each of them is used by jobs that need less of the other, so that both
 * are hardly ever free at the same time.
 */
public final class StarvableJobs {
  /**
   * The maximum number of distinct needs for which the second rule, which compares pairs, is
   * applied.
   */
  private static final int MOST_KINDS = 400;

  private final long[] @Nullable [] onLevel;
  private final long[] afterMillis;

  private static final class Kind {
    final int level;
    final int[] needs;

    Kind(int level, int[] needs) {
      this.level = level;
      this.needs = needs;
    }

    boolean isSame(int otherLevel, int[] otherNeeds) {
      return level == otherLevel && Arrays.equals(needs, otherNeeds);
    }
  }

  private StarvableJobs(long[] @Nullable [] onLevel, long[] afterMillis) {
    this.onLevel = onLevel;
    this.afterMillis = afterMillis;
  }

  /** Returns the heavy jobs; null: none exists, or none has reservations enabled. */
  public static @Nullable StarvableJobs of(
      Topology topology, ResourceCatalog catalog, JobTable jobs) {
    int[] levelOf = catalog.all().stream().mapToInt(Resource::level).toArray();
    int worker = topology.levels().worker();
    List<Kind> kinds = new ArrayList<>();
    int[] kindOf = new int[jobs.count()];
    Arrays.fill(kindOf, -1);
    boolean any = false;
    for (int j = 0; j < jobs.count(); j++) {
      Job job = jobs.job(j);
      if (job != null && jobs.levels[j] >= 0 && jobs.levels[j] < worker) {
        kindOf[j] = kindOf(kinds, jobs.levels[j], onPath(jobs.needs[j], levelOf, jobs.levels[j]));
        any |= job.scheduling().reserveAfter().isPresent();
      }
    }
    if (!any || kinds.size() < 2) {
      return null;
    }
    boolean[] heavy = new boolean[kinds.size()];
    for (int k = 0; k < heavy.length; k++) {
      heavy[k] =
          isOutrun(kinds.get(k), kinds)
              || (heavy.length <= MOST_KINDS && isDividedAmong(kinds.get(k), kinds));
    }
    long[] after = new long[jobs.count()];
    Arrays.fill(after, -1);
    long[][] onLevel = new long[topology.levels().count()][];
    for (int j = 0; j < after.length; j++) {
      Job job = jobs.job(j);
      Duration wanted = job == null ? null : job.scheduling().reserveAfter().orElse(null);
      if (kindOf[j] >= 0 && heavy[kindOf[j]] && wanted != null) {
        after[j] = wanted.toMillis();
        int[] needs = kinds.get(kindOf[j]).needs;
        for (int r = 0; r < needs.length; r++) {
          if (needs[r] > 0) {
            long[] bits = onLevel[levelOf[r]];
            bits = bits == null ? new long[jobs.words] : bits;
            bits[j >>> 6] |= 1L << j;
            onLevel[levelOf[r]] = bits;
          }
        }
      }
    }
    return Arrays.stream(onLevel).anyMatch(Objects::nonNull)
        ? new StarvableJobs(onLevel, after)
        : null;
  }

  /** Returns the needs on nodes of a task's path; needs on other levels are 0. */
  private static int[] onPath(int[] needs, int[] levelOf, int level) {
    int[] counted = new int[needs.length];
    for (int r = 0; r < needs.length; r++) {
      counted[r] = levelOf[r] <= level ? needs[r] : 0;
    }
    return counted;
  }

  private static int kindOf(List<Kind> kinds, int level, int[] needs) {
    for (int k = 0; k < kinds.size(); k++) {
      if (kinds.get(k).isSame(level, needs)) {
        return k;
      }
    }
    kinds.add(new Kind(level, needs));
    return kinds.size() - 1;
  }

  private static boolean isOutrun(Kind kind, List<Kind> others) {
    for (Kind other : others) {
      for (int r = 0; r < kind.needs.length; r++) {
        if (other.needs[r] > 0 && other.needs[r] < kind.needs[r]) {
          return true;
        }
      }
    }
    return false;
  }

  private static boolean isDividedAmong(Kind kind, List<Kind> others) {
    int count = kind.needs.length;
    // In takes[a * count + b], another kind of job uses a, and less of b than this one.
    boolean[] takes = new boolean[count * count];
    for (Kind other : others) {
      for (int a = 0; a < count; a++) {
        for (int b = 0; other.needs[a] > 0 && b < count; b++) {
          takes[a * count + b] |= other.needs[b] < kind.needs[b];
        }
      }
    }
    for (int a = 0; a < count; a++) {
      for (int b = 0; kind.needs[a] > 0 && b < count; b++) {
        if (a != b && takes[a * count + b] && takes[b * count + a]) {
          return true;
        }
      }
    }
    return false;
  }

  /** Returns the bits of the heavy jobs that need slots of nodes on a level; null: none. */
  long @Nullable [] onLevel(int level) {
    return onLevel[level];
  }

  /** Returns how long a task of a heavy job waits before a node is reserved for it. */
  long afterMillis(int job) {
    return afterMillis[job];
  }
}
