package io.espalier.core.config;

import io.espalier.core.problem.Problem;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * One version of the whole configuration; immutable.
 *
 * @param settings valid settings
 * @param jobs jobs by name, including broken ones
 * @param warnings warnings about the settings and the document; problems of jobs are in the jobs
 * @param shard partition of the nodes that this scheduler works on
 */
public record Config(
    Settings settings, SortedMap<String, Job> jobs, List<Problem> warnings, Partition shard) {
  /** The key of the settings in a document; the paths of their problems begin with it. */
  public static final String SETTINGS_KEY = "bistro_settings";

  /** The key of a job in a document, without its name, which follows. */
  public static final String JOB_KEY = "bistro_job->";

  public Config {
    jobs = Collections.unmodifiableSortedMap(new TreeMap<>(jobs));
    warnings = List.copyOf(warnings);
  }

  /** Creates a configuration of an unpartitioned scheduler. */
  public Config(Settings settings, SortedMap<String, Job> jobs, List<Problem> warnings) {
    this(settings, jobs, warnings, Partition.WHOLE);
  }

  /** The same settings with other jobs. */
  public Config withJobs(SortedMap<String, Job> newJobs) {
    return new Config(settings, newJobs, warnings, shard);
  }

  public @Nullable Job job(String name) {
    return jobs.get(name);
  }

  /** Document warnings and the problems of all jobs, in document order as far as known. */
  public List<Problem> problems() {
    List<Problem> all = new ArrayList<>(warnings);
    jobs.values().forEach(job -> all.addAll(job.problems()));
    return List.copyOf(all);
  }
}
