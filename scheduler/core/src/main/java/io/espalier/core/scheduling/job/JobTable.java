package io.espalier.core.scheduling.job;

import io.espalier.core.config.Config;
import io.espalier.core.config.Job;
import io.espalier.core.config.JobScheduling;
import io.espalier.core.config.Levels;
import io.espalier.core.config.Resource;
import io.espalier.core.config.ResourceCatalog;
import io.espalier.core.config.task.BatchSpec;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;

/**
 * The jobs of one scheduling state, numbered in name order, followed by removed jobs that may still
 * have running tasks. Properties that can change without a new state (flags, priority) are updated
 * in place.
 */
public final class JobTable {
  /** The number of words for the bits of all jobs. */
  public final int words;

  private final String[] names;

  /** The number of configured jobs, which come first in name order. */
  private final int configured;

  private final @Nullable Job[] jobs;
  private final Map<String, Integer> numbers = new HashMap<>();

  /** The level index of the tasks; -1 for a removed job whose level is gone. */
  public final int[] levels;

  /** Slots by resource index that a task needs which shares none with others of a batch. */
  public final int[][] needs;

  /**
   * The same without those of which a batch is charged once; the same object where that is nothing.
   */
  public final int[][] ownNeeds;

  /** Job numbers; -1 for a job that is not configured. */
  public final int[][] dependencies;

  public final int[][] dependants;

  /** Queue names; a removed job keeps its last one. */
  public final String[] queues;

  /** The removed jobs without running tasks, which are not carried into the next state. */
  public final boolean[] dropped;

  /** Whether the tasks of the instance node belong to another partition. */
  public final boolean instanceElsewhere;

  private final long[] active;

  /** Since when an active job has been active, epoch milliseconds. */
  private final long[] activeSince;

  private boolean schedulerEnabled;
  private int largestBatch;

  /**
   * Per job how long a task waits for others of its batch, milliseconds; null: no job has batches.
   */
  private long @Nullable [] batchWaits;

  /**
   * @param removed the names of removed jobs that may have running tasks, with the names of their
   *     levels
   */
  public JobTable(Config config, Map<String, String> removed) {
    Levels levelNames = config.settings().levels();
    List<String> all = new ArrayList<>(config.jobs().keySet());
    configured = all.size();
    all.addAll(removed.keySet());
    names = all.toArray(new String[0]);
    jobs = new @Nullable Job[names.length];
    words = Math.max(1, (names.length + 63) >>> 6);
    levels = new int[names.length];
    needs = new int[names.length][];
    ownNeeds = new int[names.length][];
    dependencies = new int[names.length][];
    dependants = new int[names.length][];
    queues = new String[names.length];
    dropped = new boolean[names.length];
    active = new long[words];
    activeSince = new long[names.length];
    instanceElsewhere = !config.shard().ownsInstance();
    for (int j = 0; j < names.length; j++) {
      numbers.put(names[j], j);
      Job job = config.job(names[j]);
      jobs[j] = job;
      String level = removed.get(names[j]);
      queues[j] = job == null ? JobScheduling.DEFAULT_QUEUE : job.scheduling().queue();
      levels[j] = job != null ? job.level() : level != null ? levelNames.find(level) : -1;
      needs[j] = new int[config.settings().resources().count()];
      if (job != null) {
        for (int r = 0; r < needs[j].length; r++) {
          needs[j][r] = Math.max(0, job.needs().get(r));
        }
      }
      ownNeeds[j] = ownNeeds(job, config.settings().resources(), needs[j]);
    }
    linkDependencies();
    schedulerEnabled = config.settings().enabled();
    setBatches();
  }

  private static int[] ownNeeds(@Nullable Job job, ResourceCatalog catalog, int[] needs) {
    int[] own = needs;
    if (job != null && job.scheduling().batch().isPresent()) {
      for (String name : job.scheduling().batch().get().perBatch()) {
        Resource shared = catalog.find(name);
        if (shared != null && needs[shared.index()] > 0) {
          own = own == needs ? needs.clone() : own;
          own[shared.index()] = 0;
        }
      }
    }
    return own;
  }

  /** Returns whether the tasks of a batch of the job share a charge. */
  public boolean sharesCharge(int job) {
    return ownNeeds[job] != needs[job];
  }

  /** Takes over the queues of removed jobs, whose running tasks still use slots of their queue. */
  public void keepQueues(JobTable before) {
    for (int j = 0; j < names.length; j++) {
      int old = before.find(names[j]);
      if (jobs[j] == null && old >= 0) {
        queues[j] = before.queues[old];
      }
    }
  }

  private void linkDependencies() {
    List<List<Integer>> back = new ArrayList<>();
    for (int j = 0; j < names.length; j++) {
      back.add(new ArrayList<>());
    }
    for (int j = 0; j < names.length; j++) {
      Job job = jobs[j];
      List<String> wanted = job == null ? List.of() : job.dependsOn();
      dependencies[j] = new int[wanted.size()];
      for (int i = 0; i < wanted.size(); i++) {
        Integer number = numbers.get(wanted.get(i));
        boolean configured = number != null && jobs[number] != null;
        dependencies[j][i] = number != null && configured ? number : -1;
        if (number != null && configured) {
          back.get(number).add(j);
        }
      }
    }
    for (int j = 0; j < names.length; j++) {
      dependants[j] = back.get(j).stream().distinct().mapToInt(Integer::intValue).toArray();
    }
  }

  public int count() {
    return names.length;
  }

  /** Returns the last configured job whose name is not greater than a name, or -1. */
  public int lastUpTo(String name) {
    int low = 0;
    int high = configured;
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (names[middle].compareTo(name) <= 0) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low - 1;
  }

  public int find(String name) {
    return numbers.getOrDefault(name, -1);
  }

  public String name(int job) {
    return names[job];
  }

  /** Returns the configuration of a job; null: removed. */
  public @Nullable Job job(int job) {
    return jobs[job];
  }

  /**
   * Updates in place the properties that may change so: flags, priority, and the properties with
   * which tasks are started.
   */
  public void replace(Config config) {
    for (int j = 0; j < names.length; j++) {
      jobs[j] = config.job(names[j]);
    }
    schedulerEnabled = config.settings().enabled();
    setBatches();
  }

  private void setBatches() {
    largestBatch = 1;
    batchWaits = null;
    for (int j = 0; j < names.length; j++) {
      Job job = jobs[j];
      BatchSpec batch = job == null ? null : job.scheduling().batch().orElse(null);
      if (batch != null) {
        largestBatch = Math.max(largestBatch, batch.max());
        batchWaits = batchWaits == null ? new long[names.length] : batchWaits;
        batchWaits[j] = batch.waitTime().toMillis();
      }
    }
  }

  /** Returns the most tasks that a batch of any job may have; 1: no job has batches. */
  public int largestBatch() {
    return largestBatch;
  }

  /**
   * Returns how long a task of each job waits for others of its batch, in milliseconds by job; 0:
   * not at all. Null: no job has batches. Must not be modified.
   */
  public long @Nullable [] batchWaits() {
    return batchWaits;
  }

  public boolean schedulerEnabled() {
    return schedulerEnabled;
  }

  /** Returns whether the configuration lets the job start tasks. */
  public boolean canRun(int job) {
    Job configured = jobs[job];
    return schedulerEnabled && configured != null && configured.canRun();
  }

  public void setActive(int job, boolean on, long nowMillis) {
    if (on) {
      active[job >>> 6] |= 1L << job;
      activeSince[job] = nowMillis;
    } else {
      active[job >>> 6] &= ~(1L << job);
    }
  }

  public long active(int word) {
    return active[word];
  }

  public boolean isActive(int job) {
    return (active[job >>> 6] & 1L << job) != 0;
  }

  /** Returns since when an active job has been active, epoch milliseconds. */
  public long activeSince(int job) {
    return activeSince[job];
  }

  /**
   * Takes over since when jobs have been active. Jobs with dependencies, and those of which a task
   * was released, count again, because when their tasks were released is not carried over.
   *
   * @param hasReleases whether a task of a job of the other table was released
   */
  public void keepActiveSince(JobTable before, IntPredicate hasReleases) {
    for (int j = 0; j < configured; j++) {
      int old = dependencies[j].length > 0 ? -1 : before.find(names[j]);
      if (old >= 0 && before.isActive(old) && !hasReleases.test(old)) {
        activeSince[j] = before.activeSince[old];
      }
    }
  }

  /** Returns the bits of the jobs that have tasks on a level. */
  public long[] onLevel(int level) {
    long[] bits = new long[words];
    for (int j = 0; j < names.length; j++) {
      if (levels[j] == level) {
        bits[j >>> 6] |= 1L << j;
      }
    }
    return bits;
  }

  /** Returns the smallest and the largest level that has tasks; {@code {0, -1}} without jobs. */
  public int[] levelRange() {
    int low = Arrays.stream(levels).filter(l -> l >= 0).min().orElse(0);
    int high = Arrays.stream(levels).max().orElse(-1);
    return new int[] {low, high};
  }
}
