package io.espalier.core.config.read;

import io.espalier.core.config.Config;
import io.espalier.core.config.Job;
import io.espalier.core.config.JobScheduling;
import io.espalier.core.config.Partition;
import io.espalier.core.config.Settings;
import io.espalier.core.config.keys.SettingsKeys;
import io.espalier.core.config.keys.SettingsKeys.Partial;
import io.espalier.core.config.schema.ConfigValue;
import io.espalier.core.config.schema.Names;
import io.espalier.core.config.schema.UnknownKeys;
import io.espalier.core.json.Json;
import io.espalier.core.json.Position;
import io.espalier.core.problem.Problem;
import io.espalier.core.problem.Problem.Severity;
import io.espalier.core.problem.ProblemPath;
import io.espalier.core.problem.Problems;
import io.espalier.core.problem.Result;
import io.espalier.core.problem.Suggestions;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Parses a configuration document into typed values (docs/design/bistro.md#settings,
 * docs/design/design.md#unknown-keys). Immutable; pure.
 *
 * <p>The document is an object with {@code bistro_settings} and one {@code bistro_job->NAME} for
 * each job. The name of a job has 1 to 239 ASCII letters, digits, and characters of {@code _-.:},
 * and starts with a letter, a digit or {@code _}.
 *
 * <p>Scalars are converted leniently. An unknown key is an error of the settings or job that
 * contains it when it is within two letters of a known key, otherwise a warning; keys that begin
 * with {@code _} or {@code //} are comments.
 */
public final class ConfigParser {
  private static final String SCHEMA = "$schema";
  private static final String NOTIFICATIONS = "notifications";

  static final ProblemPath SETTINGS_PATH = ProblemPath.ROOT.key(Config.SETTINGS_KEY);

  private final Names plugIns;
  private final Partition shard;

  /**
   * Creates a parser that knows the plug-ins by name.
   *
   * @param policies names of scheduling policies; any other name is an error
   * @param workerSelectors names of worker selectors; any other name is an error
   * @param nodeSourceTypes names of node source types; any other name is an error
   */
  public ConfigParser(
      Collection<String> policies,
      Collection<String> workerSelectors,
      Collection<String> nodeSourceTypes) {
    this(
        new Names(
            new TreeSet<>(policies),
            new TreeSet<>(workerSelectors),
            new TreeSet<>(nodeSourceTypes)),
        Partition.WHOLE);
  }

  private ConfigParser(Names plugIns, Partition shard) {
    this.plugIns = plugIns;
    this.shard = shard;
  }

  /** A parser for one of several schedulers, which also reports what they cannot share. */
  public ConfigParser inShard(Partition newShard) {
    return new ConfigParser(plugIns, newShard);
  }

  /**
   * Parses a document. Collects every problem of every part, with its position if the document has
   * one. When levels or resources are broken, references to them are not checked: nearly all of
   * these problems would be consequences.
   *
   * @return no value when the settings have an error; jobs with errors are included, and cannot
   *     run. The problems are those of the document, the settings and all jobs, in the order of the
   *     text
   */
  public Result<Config> parse(Json document) {
    Result<Config> found = inspect(document);
    Config config = found.value();
    boolean settingsAreGood =
        config != null && config.warnings().stream().noneMatch(Problem::isError);
    return settingsAreGood ? found : new Result<>(null, found.problems());
  }

  /**
   * Parses a document like {@link #parse}, but returns the valid parts even of broken settings,
   * with defaults for the rest: for further checks only, never to run it.
   *
   * @return no value only when levels or resources are broken
   */
  public Result<Config> inspect(Json document) {
    Problems problems = new Problems();
    if (!(document instanceof Json.Obj object)) {
      problems.error(
          ProblemPath.ROOT, document, "expected an object, found " + document.kind(), null);
      return new Result<>(null, problems.sorted());
    }
    object.members().forEach((key, value) -> checkKey(object, key, problems));
    Partial partial = settings(object, problems);
    boolean isComplete = partial.names().areKnown();
    Settings settings = partial.settings();
    SortedMap<String, Job> jobs = jobs(object, partial);
    if (isComplete) {
      settings = PartitionRules.withGroups(settings, shard);
      PartitionRules.warn(settings, shard, problems);
      jobs = PartitionRules.check(jobs, shard);
    }
    warnOfUnusedSets(settings, jobs.values(), problems);
    warnOfNothingTold(settings, partial.names(), jobs, problems);
    List<Problem> all = new ArrayList<>(problems.sorted());
    jobs.values().forEach(job -> all.addAll(job.problems()));
    Config config = isComplete ? new Config(settings, jobs, problems.sorted(), shard) : null;
    return new Result<>(config, Problems.sorted(all));
  }

  private static void warnOfUnusedSets(Settings settings, Collection<Job> jobs, Problems problems) {
    Set<String> used = jobs.stream().map(Job::set).collect(Collectors.toSet());
    if (!(settings.original().get("sets") instanceof Json.Obj rules)) {
      return;
    }
    for (String set : new TreeSet<>(settings.sets().keySet())) {
      if (!used.contains(set)) {
        problems.add(
            Problems.at(
                Severity.WARNING,
                SETTINGS_PATH.key("sets").key(set),
                rules.keyAt(set),
                null,
                "no job belongs to this set",
                used.size() > 1 || !used.contains("")
                    ? Suggestions.hint(set, used.stream().filter(s -> !s.isEmpty()).toList())
                    : "give the jobs of the set the key \"set\": \"" + set + "\""));
      }
    }
  }

  /**
   * Warns of jobs, sets and queues that notifications are restricted to, and that are not there.
   */
  private static void warnOfNothingTold(
      Settings settings, Names names, Map<String, Job> jobs, Problems problems) {
    if (!(settings.original().get(NOTIFICATIONS) instanceof Json.Obj notifiers)) {
      return;
    }
    Set<String> sets = new TreeSet<>();
    jobs.values().forEach(job -> sets.add(job.set()));
    sets.remove(""); // jobs without a set
    Set<String> queues = new TreeSet<>(names.queues());
    queues.add(JobScheduling.DEFAULT_QUEUE);
    for (String notifier : new TreeSet<>(settings.notifications().keySet())) {
      if (notifiers.get(notifier) instanceof Json.Obj keys
          && keys.get("when") instanceof Json.Obj when) {
        ProblemPath path = SETTINGS_PATH.key(NOTIFICATIONS).key(notifier).key("when");
        warnOfUnknown(
            path.key("jobs"), when.get("jobs"), jobs.keySet(), "there is no job", problems);
        warnOfUnknown(
            path.key("sets"), when.get("sets"), sets, "no job belongs to a set", problems);
        if (names.areKnown()) {
          warnOfUnknown(
              path.key("queues"), when.get("queues"), queues, "there is no queue", problems);
        }
      }
    }
  }

  private static void warnOfUnknown(
      ProblemPath path, @Nullable Json list, Set<String> known, String what, Problems problems) {
    List<Json> items = list instanceof Json.Arr all ? all.items() : List.of();
    for (int i = 0; i < items.size(); i++) {
      if (items.get(i) instanceof Json.Str text && !known.contains(text.value())) {
        problems.warning(
            path.index(i),
            text,
            what + " of this name, so nothing is told about it",
            Suggestions.hint(text.value(), known));
      }
    }
  }

  private Partial settings(Json.Obj document, Problems problems) {
    Json settings = document.get(Config.SETTINGS_KEY);
    if (settings == null) {
      problems.add(
          Problems.at(
              Severity.ERROR,
              SETTINGS_PATH,
              document.at(),
              null,
              "the key is missing, expected an object",
              null));
      return Partial.NOTHING;
    }
    ConfigValue value = new ConfigValue(settings, SETTINGS_PATH, problems, plugIns);
    return SettingsKeys.SETTINGS.partial(value);
  }

  private static SortedMap<String, Job> jobs(Json.Obj document, Partial partial) {
    JobParser parser = new JobParser(partial.settings(), partial.names());
    SortedMap<String, Job> jobs = new TreeMap<>();
    document
        .members()
        .forEach(
            (key, value) -> {
              if (key.startsWith(Config.JOB_KEY)) {
                String name = key.substring(Config.JOB_KEY.length());
                jobs.put(name, parser.read(name, value, document.keyAt(key)));
              }
            });
    return JobDependencies.check(jobs, partial.settings().levels());
  }

  private static void checkKey(Json.Obj document, String key, Problems problems) {
    if (key.equals(Config.SETTINGS_KEY)
        || key.equals(SCHEMA)
        || key.startsWith(Config.JOB_KEY)
        || UnknownKeys.isComment(key)) {
      return;
    }
    String hint = "start it with \"_\" if it is a comment";
    if (key.toLowerCase(Locale.ROOT).startsWith("bistro_job")) {
      hint =
          "did you mean \""
              + Config.JOB_KEY
              + key.replaceFirst("(?i)bistro_jobs?[^A-Za-z0-9_]*", "")
              + "\"?";
    } else if (Suggestions.closest(key, List.of(Config.SETTINGS_KEY), 3) != null) {
      hint = "did you mean \"" + Config.SETTINGS_KEY + "\"?";
    }
    Position at = document.keyAt(key);
    problems.add(
        Problems.at(
            Severity.WARNING,
            ProblemPath.ROOT.key(key),
            at,
            null,
            "this key is neither \"bistro_settings\" nor a \"bistro_job->NAME\", it does nothing",
            hint));
  }
}
