package io.espalier.core.config.read;

import io.espalier.core.config.Config;
import io.espalier.core.config.GroupRule;
import io.espalier.core.config.Job;
import io.espalier.core.config.Partition;
import io.espalier.core.config.QueueSpec;
import io.espalier.core.config.Resource;
import io.espalier.core.config.Settings;
import io.espalier.core.config.WholeJobDependency;
import io.espalier.core.config.keys.JobKeys;
import io.espalier.core.config.keys.OptionKeys;
import io.espalier.core.json.Json;
import io.espalier.core.problem.Problem;
import io.espalier.core.problem.Problem.Severity;
import io.espalier.core.problem.ProblemPath;
import io.espalier.core.problem.Problems;
import io.espalier.core.text.ShortText;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Finds what share-nothing schedulers cannot do together
 * (docs/design/design.md#schedulers-that-share-a-configuration). What would make a job wait
 * forever, or start too early, is an error of the job; what only has another meaning is a warning.
 */
final class PartitionRules {
  private PartitionRules() {}

  /** The same jobs with the problems caused by sharing. */
  static SortedMap<String, Job> check(SortedMap<String, Job> jobs, Partition shard) {
    if (shard.isWhole()) {
      return jobs;
    }
    SortedMap<String, Job> checked = new TreeMap<>();
    jobs.forEach((name, job) -> checked.put(name, check(job, jobs, shard)));
    return checked;
  }

  /**
   * The same settings; if several schedulers share the nodes, another choice of group members
   * requires another tree, because a tree says which groups have members in other partitions.
   */
  static Settings withGroups(Settings settings, Partition shard) {
    List<GroupRule> groups = settings.rules().groups();
    if (shard.isWhole() || groups.isEmpty()) {
      return settings;
    }
    StringBuilder hash = new StringBuilder(settings.nodesHash());
    groups.forEach(group -> hash.append(' ').append(group.level()).append(' ').append(group.by()));
    return settings.withNodesHash(hash.toString());
  }

  private static Job check(Job job, SortedMap<String, Job> jobs, Partition shard) {
    Problems problems = new Problems();
    problems.addAll(job.problems());
    for (WholeJobDependency dependency : job.afterJobs()) {
      JobDependencies.add(
          problems,
          Severity.ERROR,
          job,
          JobKeys.JOB.afterJobs.name(),
          dependency.job(),
          "no scheduler knows whether all tasks of a job are done: "
              + shard.count()
              + " schedulers share the nodes",
          "run this configuration with one scheduler, or start this job when all have finished");
    }
    for (String dependency : job.dependsOn()) {
      Job other = jobs.get(dependency);
      if (other != null && other.level() == 0 && job.level() >= 0) {
        JobDependencies.add(
            problems,
            Severity.ERROR,
            job,
            JobKeys.JOB.dependsOn.name(),
            dependency,
            "that job has its task on the instance, which only shard 0 of "
                + shard.count()
                + " knows",
            "run this configuration with one scheduler, or move one of these jobs");
      }
    }
    if (job.scheduling().maxConcurrent() > 0) {
      warn(problems, job, OptionKeys.OPTIONS.maxConcurrent.name(), shard);
    }
    if (job.scheduling().maxStarting() > 0) {
      warn(problems, job, OptionKeys.OPTIONS.maxStarting.name(), shard);
    }
    if (job.scheduling().startRate().isPresent()) {
      warn(problems, job, OptionKeys.OPTIONS.startRate.name(), shard);
    }
    if (job.scheduling().rollout().isPresent()) {
      warn(problems, job, JobKeys.JOB.rollout.name(), shard);
    }
    return problems.count() == job.problems().size() ? job : job.withProblems(problems.sorted());
  }

  private static void warn(Problems problems, Job job, String key, Partition shard) {
    Json said = job.original().get(key);
    if (said == null) {
      // This is the default from the settings, which get a single warning.
      return;
    }
    ProblemPath path = ProblemPath.ROOT.key(Config.JOB_KEY + job.name()).key(key);
    problems.add(Problems.at(Severity.WARNING, path, said.at(), said, perScheduler(shard), null));
  }

  /** Adds warnings for settings that have another meaning when schedulers share the nodes. */
  static void warn(Settings settings, Partition shard, Problems problems) {
    if (shard.isWhole()) {
      return;
    }
    new TreeMap<>(settings.rules().shardTags())
        .forEach(
            (tag, index) -> {
              if (index >= shard.count()) {
                problems.add(
                    Problem.error(
                            ConfigParser.SETTINGS_PATH.key("shard_tags").key(tag).toString(),
                            shard.count()
                                + " schedulers have the numbers 0 to "
                                + (shard.count() - 1)
                                + ", not "
                                + index)
                        .withHint("name one of them, or start more schedulers"));
              }
            });
    List<Resource> global = settings.resources().ofLevel(0);
    if (!global.isEmpty()) {
      String names = ShortText.few(global.stream().map(Resource::name).toList(), ", ");
      warn(problems, "resources", "the instance's limits of " + names, shard);
    }
    if (settings.rules().startRates().containsKey(0)) {
      warn(problems, "start_rates", "the start rates of the instance", shard);
    }
    for (GroupRule group : settings.rules().groups()) {
      if (group.level() > settings.lowestSharedLevel()) {
        problems.add(
            Problem.warning(
                    ConfigParser.SETTINGS_PATH.key("groups").key(group.name()).toString(),
                    "nothing starts on the members of these groups, because each of "
                        + shard.count()
                        + " schedulers reads only a part of the nodes of level "
                        + settings.levels().name(group.level())
                        + ", and a group may have members in other parts")
                .withHint("leave out \"push_down\" of the node sources, or run one scheduler"));
      }
    }
    List<String> limited =
        settings.rules().queues().stream()
            .filter(queue -> !queue.maxSlots().isEmpty())
            .map(QueueSpec::name)
            .toList();
    if (!limited.isEmpty()) {
      warn(problems, "queues", "the \"max_slots\" of " + ShortText.few(limited, ", "), shard);
    }
  }

  private static void warn(Problems problems, String key, String what, Partition shard) {
    problems.add(
        Problem.warning(
                ConfigParser.SETTINGS_PATH.key(key).toString(),
                what
                    + " hold for each of "
                    + shard.count()
                    + " schedulers, so together they may use that many times as much")
            .withHint("divide by the number of schedulers"));
  }

  private static String perScheduler(Partition shard) {
    return "this applies to each of "
        + shard.count()
        + " schedulers by itself, not to all of them together";
  }
}
