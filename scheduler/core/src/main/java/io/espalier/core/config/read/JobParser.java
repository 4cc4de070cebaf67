package io.espalier.core.config.read;

import io.espalier.core.config.Config;
import io.espalier.core.config.Job;
import io.espalier.core.config.NodeLimitRule;
import io.espalier.core.config.NodeWindowRule;
import io.espalier.core.config.Resource;
import io.espalier.core.config.Settings;
import io.espalier.core.config.keys.JobKeys;
import io.espalier.core.config.rollout.RolloutSpec;
import io.espalier.core.config.schema.ConfigObject;
import io.espalier.core.config.schema.ConfigValue;
import io.espalier.core.config.schema.Names;
import io.espalier.core.config.window.OpenTimes;
import io.espalier.core.config.window.Schedule;
import io.espalier.core.health.ProbeSpec;
import io.espalier.core.json.Json;
import io.espalier.core.json.Position;
import io.espalier.core.problem.Problem.Severity;
import io.espalier.core.problem.ProblemPath;
import io.espalier.core.problem.Problems;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Parses {@code bistro_job->NAME} (docs/design/bistro.md#jobs). */
final class JobParser {
  /** The prefix of the document's keys for jobs. */
  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9_][A-Za-z0-9_.:-]{0,238}");

  static final String NAME_RULE =
      "the name of a job must have 1 to 239 letters (a-z, A-Z), digits, and \"_-.:\", and start"
          + " with a letter, a digit or \"_\"";

  private final Settings settings;
  private final Names names;
  private final List<Integer> defaultNeeds;

  JobParser(Settings settings, Names names) {
    this.settings = settings;
    this.names = names;
    defaultNeeds = settings.resources().all().stream().map(Resource::defaultNeed).toList();
  }

  static boolean isName(String name) {
    return NAME.matcher(name).matches();
  }

  /**
   * Parses one job; broken parts are replaced by their defaults.
   *
   * @param keyAt position of the job's key
   */
  Job read(String name, Json json, Position keyAt) {
    Problems problems = new Problems();
    ProblemPath path = ProblemPath.ROOT.key(Config.JOB_KEY + name);
    if (!isName(name)) {
      problems.add(Problems.at(Severity.ERROR, path, keyAt, Json.of(name), NAME_RULE, null));
    }
    Job usual = JobKeys.usual(name, settings.defaults(), defaultNeeds);
    ConfigObject in = JobKeys.JOB.open(new ConfigValue(json, path, problems, names));
    if (in == null) {
      return usual.parsedFrom(new Json.Obj(Map.of(), Map.of(), json.at()), problems.sorted());
    }
    Job job = JobKeys.JOB.read(in, usual);
    warnOfNeverFitting(in, job);
    checkWindows(in, job);
    checkProbes(in, job);
    return job.parsedFrom(in.json(), problems.sorted());
  }

  private void checkProbes(ConfigObject in, Job job) {
    ConfigValue staged = in.find(JobKeys.JOB.rollout);
    List<String> asked = job.scheduling().rollout().map(RolloutSpec::probes).orElse(List.of());
    for (ProbeSpec probe : settings.rules().probes()) {
      if (staged != null && asked.contains(probe.name()) && probe.level() > job.level()) {
        staged.error(
            "probe \""
                + probe.name()
                + "\" is about nodes of level \""
                + settings.levels().name(probe.level())
                + "\", and the tasks do not run below them",
            "name a probe of the level of the tasks, or of one above");
      }
    }
  }

  private void checkWindows(ConfigObject in, Job job) {
    List<Schedule> schedules = settings.schedules(job);
    long longest = longestMillis(schedules);
    Duration takes =
        job.scheduling().mayOverrun()
            ? Duration.ZERO
            : job.scheduling().assume().orElse(Duration.ZERO);
    boolean fits = takes.toMillis() <= longest;
    if (longest > 0 && fits) {
      warnOfNodeWindows(in, job, schedules, takes);
    }
    if (longest > 0 && !fits) {
      in.value()
          .error(
              "no task of this job can ever start: it is assumed to take longer than its longest"
                  + " window, which lasts "
                  + Duration.ofMillis(longest).toMinutes()
                  + " minutes",
              "make \"assume\" shorter, or write \"overrun\": \"allow\"");
    }
    if (longest == 0) {
      in.value()
          .error(
              "no task of this job can ever start: the windows of the settings, the queue and the"
                  + " job are never open together",
              "let them overlap");
    }
  }

  private static long longestMillis(List<Schedule> schedules) {
    return schedules.stream().allMatch(schedule -> schedule.windows().isEmpty())
        ? Long.MAX_VALUE
        : new OpenTimes(schedules).longestMillis();
  }

  /**
   * Only what is in the configuration is known here: no attributes, and not which tags there are.
   */
  private void warnOfNodeWindows(
      ConfigObject in, Job job, List<Schedule> schedules, Duration takes) {
    for (int i = 0; i <= job.level(); i++) {
      int level = i;
      List<NodeWindowRule> rules =
          settings.nodeWindows().stream().filter(rule -> rule.level() == level).toList();
      // The last entry that matches a node counts, so those before one that matches all do not.
      int first = rules.size() - 1;
      while (first >= 0 && !isOfAllNodes(rules.get(first))) {
        first--;
      }
      List<NodeWindowRule> used = first < 0 ? List.of() : rules.subList(first, rules.size());
      if (used.isEmpty() || used.stream().anyMatch(rule -> !rule.attribute().isEmpty())) {
        continue;
      }
      long longest =
          used.stream()
              .mapToLong(
                  rule ->
                      longestMillis(
                          Stream.concat(schedules.stream(), Stream.of(rule.schedule())).toList()))
              .max()
              .orElse(Long.MAX_VALUE);
      if (longest == 0) {
        in.value()
            .warning(
                "no task of this job can ever start: the windows of all nodes of level \""
                    + settings.levels().name(level)
                    + "\" are closed whenever those of the settings, the queue and the job are open",
                "let them overlap");
      } else if (takes.toMillis() > longest) {
        in.value()
            .warning(
                "no task of this job can start before 20 are done: each is assumed to take "
                    + takes.toMinutes()
                    + " minutes, and the longest window of the nodes of level \""
                    + settings.levels().name(level)
                    + "\" in which the job may run lasts "
                    + Duration.ofMillis(longest).toMinutes()
                    + " minutes",
                "make \"assume\" shorter, or write \"overrun\": \"allow\"");
      }
    }
  }

  private static boolean isOfAllNodes(NodeWindowRule rule) {
    return rule.tag().isEmpty() && rule.attribute().isEmpty();
  }

  private void warnOfNeverFitting(ConfigObject in, Job job) {
    ConfigValue given = in.find(JobKeys.JOB.needs);
    Map<String, ConfigValue> members =
        given == null || !(given.json() instanceof Json.Obj) ? Map.of() : given.members();
    if (members == null) {
      return;
    }
    members.forEach(
        (name, member) -> {
          Resource resource = settings.resources().find(name);
          if (resource != null) {
            warnOfNeverFitting(member, resource, job.needs().get(resource.index()));
          }
        });
  }

  private void warnOfNeverFitting(ConfigValue value, Resource resource, int need) {
    // Operators use a limit of 0 to stop things, and workers can have their own amounts.
    int largest = resource.limit();
    boolean isKnown = true;
    for (NodeLimitRule rule : settings.rules().nodeLimits()) {
      Integer limit = rule.limits().get(resource.name());
      largest = limit == null ? largest : Math.max(largest, limit);
      // What node sources deliver is not known before the nodes are.
      isKnown &= limit == null || rule.kind() != NodeLimitRule.Kind.ATTRIBUTE;
    }
    boolean never = isKnown && largest > 0 && need > largest;
    if (never && resource.level() != settings.levels().worker()) {
      value.warning(
          "no task of this job can start: a node of the level \""
              + settings.levels().name(resource.level())
              + "\" has only "
              + largest,
          null);
    }
  }
}
