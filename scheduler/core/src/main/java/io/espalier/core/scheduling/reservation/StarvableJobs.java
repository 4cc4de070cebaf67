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
 * The jobs that others can starve for ever although everything that may start is started: whenever
 * slots become free, a lighter task fits before enough of them are free for a heavy one. Found once
 * per world, by comparing what jobs need, not nodes.
 *
 * <p>A job is heavy when another one needs less of a resource than it does, but something; or when
 * it needs two resources of which one is taken by jobs that do without the other, and the other way
 * round, so that the two are hardly ever free at the same moment.
 */
public final class StarvableJobs {
  /** Above so many kinds of needs the second rule, which compares pairs, is left out. */
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

  /** Null: no job can be starved so, or none wants anything to be done about it. */
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

  /** What is needed of nodes on a task's path; nothing elsewhere. */
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
    // takes[a * count + b]: another kind takes of a, and of b less than this one.
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

  /** Bits of the heavy jobs that need slots of nodes on a level; null: none. */
  long @Nullable [] onLevel(int level) {
    return onLevel[level];
  }

  /** How long a task of a heavy job waits until a node is kept free for it. */
  long afterMillis(int job) {
    return afterMillis[job];
  }
}
