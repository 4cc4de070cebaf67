package io.espalier.core.scheduling.worker;

import io.espalier.core.config.Config;
import io.espalier.core.config.FilterEvaluator;
import io.espalier.core.config.FilterSteps;
import io.espalier.core.config.Job;
import io.espalier.core.config.JobFilter;
import io.espalier.core.config.Levels;
import io.espalier.core.config.Resource;
import io.espalier.core.config.label.LabelExpression;
import io.espalier.core.problem.Problem;
import io.espalier.core.running.WorkerInfo;
import io.espalier.core.scheduling.capacity.NodeCapacity;
import io.espalier.core.scheduling.job.JobTable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Groups jobs into classes with the same needs on a worker and the same worker filter. A class is a
 * bit; per resource, a table maps free slots to the bits of the classes that fit, as in {@link
 * NodeCapacity}.
 */
final class RequirementClasses {
  private static final int MANY_WORKERS = 10_000;

  /** The number of words for the bits of all classes. */
  final int words;

  /** The number of words for the bits of all jobs. */
  final int jobWords;

  /** The class of each job. */
  final int[] ofJob;

  /** The resources of the worker level, by their index in the catalog. */
  final int[] resources;

  private final List<Key> keys = new ArrayList<>();

  /** By class: the budget that its filter has used, which all workers share as they join. */
  private final List<FilterSteps> steps = new ArrayList<>();

  private final Levels levels;

  /** By class: the bits of its jobs. */
  private final long[] jobBits;

  /** By resource: the distinct needs, ascending, without 0. */
  private final int[][] thresholds;

  /** By resource and number of thresholds met: the bits of the classes that fit. */
  private final long[][] fits;

  /**
   * @param salt the job's name when the filter selects a fraction, which depends on the name
   */
  private record Key(List<Integer> needs, JobFilter filter, String salt) {}

  /**
   * @param filtered whether worker filters apply
   */
  RequirementClasses(Levels levels, List<Resource> ofWorkers, JobTable jobs, boolean filtered) {
    this.levels = levels;
    resources = ofWorkers.stream().mapToInt(Resource::index).toArray();
    ofJob = new int[jobs.count()];
    Map<Key, Integer> numbers = new HashMap<>();
    for (int j = 0; j < ofJob.length; j++) {
      Key key = key(levels, jobs, j, filtered);
      Integer number = numbers.putIfAbsent(key, keys.size());
      if (number == null) {
        keys.add(key);
        steps.add(new FilterSteps(MANY_WORKERS));
      }
      ofJob[j] = number == null ? keys.size() - 1 : number;
    }
    words = Math.max(1, (keys.size() + 63) >>> 6);
    jobWords = jobs.words;
    jobBits = new long[keys.size() * jobWords];
    for (int j = 0; j < ofJob.length; j++) {
      jobBits[ofJob[j] * jobWords + (j >>> 6)] |= 1L << j;
    }
    thresholds = new int[resources.length][];
    fits = new long[resources.length][];
    for (int k = 0; k < resources.length; k++) {
      prepare(k);
    }
  }

  private Key key(Levels levels, JobTable jobs, int j, boolean filtered) {
    List<Integer> needs = new ArrayList<>();
    for (int resource : resources) {
      needs.add(jobs.needs[j][resource]);
    }
    Job job = jobs.job(j);
    @Nullable JobFilter filter = job == null ? null : job.filters().get(levels.worker());
    if (filter == null || !filtered) {
      filter = JobFilter.ALL;
    }
    return new Key(needs, filter, filter.fraction() < 1 ? jobs.name(j) : "");
  }

  private void prepare(int k) {
    int[] steps = keys.stream().mapToInt(key -> key.needs().get(k)).toArray();
    steps = Arrays.stream(steps).filter(n -> n > 0).sorted().distinct().toArray();
    thresholds[k] = steps;
    fits[k] = new long[(steps.length + 1) * words];
    for (int met = 0; met <= steps.length; met++) {
      int room = met == 0 ? 0 : steps[met - 1];
      for (int c = 0; c < keys.size(); c++) {
        if (keys.get(c).needs().get(k) <= room) {
          fits[k][met * words + (c >>> 6)] |= 1L << c;
        }
      }
    }
  }

  int count() {
    return keys.size();
  }

  /** Returns the bits of the jobs of a class. */
  long jobs(int needClass, int jobWord) {
    return jobBits[needClass * jobWords + jobWord];
  }

  /** Returns the bits of the classes whose need of a resource is at most the free slots. */
  long fit(int resource, int free, int word) {
    int[] steps = thresholds[resource];
    int met = 0;
    if (free > 0) {
      int at = Arrays.binarySearch(steps, free);
      met = at >= 0 ? at + 1 : -at - 1;
    }
    return fits[resource][met * words + word];
  }

  /** Returns the slots of a resource that a task of a class needs. */
  int need(int needClass, int resource) {
    return keys.get(needClass).needs().get(resource);
  }

  /** Returns whether the worker filter of a class accepts a worker. */
  boolean passes(int needClass, WorkerInfo worker) {
    Key key = keys.get(needClass);
    return FilterEvaluator.passesWorker(
        key.filter(),
        key.salt(),
        worker.host(),
        worker.ref().shard(),
        worker.labels(),
        steps.get(needClass));
  }

  /** Returns the condition of a class on the labels of workers. */
  LabelExpression labels(int needClass) {
    return keys.get(needClass).filter().labels();
  }

  /** Returns the problems of jobs whose worker filter is too slow. */
  List<Problem> problems(JobTable jobs) {
    List<Problem> problems = new ArrayList<>();
    for (int j = 0; j < ofJob.length; j++) {
      FilterSteps used = steps.get(ofJob[j]);
      if (used.isOver() && jobs.job(j) != null) {
        String path = Config.JOB_KEY + jobs.name(j) + ".filters." + levels.name(levels.worker());
        problems.add(used.problem(path, "the job uses no worker that comes from now on"));
      }
    }
    return problems;
  }
}
