package io.espalier.core.config.read;

import io.espalier.core.config.Job;
import io.espalier.core.config.JobFilter;
import io.espalier.core.config.Levels;
import io.espalier.core.config.NodeLimitRule;
import io.espalier.core.config.Resource;
import io.espalier.core.config.ResourceCatalog;
import io.espalier.core.config.Settings;
import io.espalier.core.config.StatusSource;
import io.espalier.core.json.Json;
import io.espalier.core.json.Position;
import io.espalier.core.problem.Problem;
import io.espalier.core.problem.Problem.Severity;
import io.espalier.core.problem.ProblemPath;
import io.espalier.core.problem.Problems;
import io.espalier.core.problem.Suggestions;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Parses {@code bistro_job->NAME} (docs/design/bistro.md#jobs). */
public final class JobParser {
  /** The message of the error of a job that contains a report of errors. */
  public static final String PRE_EXISTING = "Pre-existing errors";

  /** The prefix of the document's keys for jobs. */
  static final String PREFIX = "bistro_job->";

  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9_][A-Za-z0-9_.:-]{0,238}");

  private final Settings settings;
  private final Levels levels;

  JobParser(Settings settings) {
    this.settings = settings;
    this.levels = settings.levels();
  }

  /**
   * Parses one job; broken parts are replaced by their defaults.
   *
   * @param keyAt position of the job's key
   */
  Job read(String name, Json json, Position keyAt) {
    Problems problems = new Problems();
    ProblemPath path = ProblemPath.ROOT.key(PREFIX + name);
    if (!NAME.matcher(name).matches()) {
      problems.add(badName(name, path, keyAt));
    }
    ConfigValue value = new ConfigValue(json, path, problems);
    Json.Obj original = value.object();
    if (original == null) {
      original = new Json.Obj(Map.of(), Map.of(), json.at());
      return read(
          name, ConfigObject.of(original, path, new Problems(), ConfigSection.JOB), problems);
    }
    return read(name, ConfigObject.of(original, path, problems, ConfigSection.JOB), problems);
  }

  private static Problem badName(String name, ProblemPath path, Position keyAt) {
    return Problems.at(
        Severity.ERROR,
        path,
        keyAt,
        Json.of(name),
        "the name of a job must have 1 to 239 letters (a-z, A-Z), digits, and \"_-.:\","
            + " and start with a letter, a digit or \"_\"",
        null);
  }

  private Job read(String name, ConfigObject in, Problems problems) {
    String owner = owner(in);
    boolean enabled = in.bool("enabled", true);
    int level = SettingsParser.taskLevel(in, settings.defaults().level(), levels);
    double priority = in.number("priority", 1, 0, Double.MAX_VALUE);
    Json.Obj config = in.object("config", Json.Obj.EMPTY);
    List<Integer> needs = needs(in);
    Map<Integer, JobFilter> filters = FilterParser.read(in, levels);
    List<String> dependsOn = List.copyOf(new LinkedHashSet<>(in.texts("depends_on", List.of())));
    Optional<Integer> placementLevel = placementLevel(in);
    String hostPlacement = hostPlacement(in);
    List<String> command = command(in);
    StatusSource statusFrom = in.oneOf("status_from", StatusSource.STATUS_LINE, statusSources());
    Settings.JobDefaults inherited = settings.defaults();
    refusePreExisting(in);
    return new Job(
        name,
        owner,
        enabled,
        level,
        priority,
        config,
        needs,
        filters,
        dependsOn,
        WholeJobDependencyParser.read(in),
        placementLevel,
        hostPlacement,
        command,
        statusFrom,
        BackoffParser.read(in, inherited.backoff()),
        SubprocessParser.readKillOrphans(in, inherited.killOrphansAfter()),
        SubprocessParser.read(in, inherited.subprocess()),
        SubprocessParser.readKill(in, inherited.kill()),
        TimeLimitsParser.read(in, inherited.timeLimits()),
        LogOptionsParser.read(in, inherited.logs()),
        JobSchedulingParser.read(in, inherited.scheduling(), settings.rules().queues()),
        RetryParser.read(in, inherited.retry()),
        OutcomeParser.read(in, inherited.outcome()),
        in.integer("version_id", -1, -1),
        in.integer("create_time", 0, 0),
        in.integer("modify_time", 0, 0),
        problems.sorted(),
        in.json());
  }

  private static String owner(ConfigObject in) {
    ConfigValue value = in.require("owner", "who to ask about this job");
    String owner = value == null ? null : value.text();
    return owner == null ? "" : owner;
  }

  private List<Integer> needs(ConfigObject in) {
    ResourceCatalog catalog = settings.resources();
    List<Integer> needs = new ArrayList<>();
    catalog.all().forEach(resource -> needs.add(resource.defaultNeed()));
    ConfigValue value = in.find("resources");
    Map<String, ConfigValue> members = value == null ? null : value.members();
    if (members == null) {
      return needs;
    }
    List<String> known = catalog.all().stream().map(Resource::name).toList();
    members.forEach(
        (name, member) -> {
          Integer need = member.int32(0);
          Resource resource = catalog.find(name);
          if (resource == null) {
            member.error("unknown resource \"" + name + "\"", Suggestions.hint(name, known));
          } else if (need != null) {
            needs.set(resource.index(), need);
            warnOfNeverFitting(member, resource, need);
          }
        });
    return needs;
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
    if (never && resource.level() != levels.worker()) {
      value.warning(
          "no task of this job can start: a node of the level \""
              + levels.name(resource.level())
              + "\" has only "
              + largest,
          null);
    }
  }

  private Optional<Integer> placementLevel(ConfigObject in) {
    ConfigValue value = in.find("level_for_host_placement");
    return Optional.ofNullable(value == null ? null : value.level(levels));
  }

  private static String hostPlacement(ConfigObject in) {
    ConfigValue value = in.find("host_placement");
    String host = value == null ? null : value.text();
    if (value == null || host == null) {
      return "";
    }
    if (SubprocessParser.hasControls(host)) {
      value.error("a host name must not hold control characters", null);
      return "";
    }
    return host;
  }

  private static List<String> command(ConfigObject in) {
    ConfigValue value = in.find("command");
    List<ConfigValue> items = value == null ? null : value.items();
    if (items == null) {
      return List.of();
    }
    List<String> command = new ArrayList<>();
    for (ConfigValue item : items) {
      String argument = item.text();
      if (argument == null) {
        continue;
      }
      if (argument.indexOf('\0') >= 0) {
        item.error("an argument must not hold the character U+0000", null);
      } else if (argument.isEmpty() && command.isEmpty()) {
        item.error("expected the path of a program", null);
      } else {
        command.add(argument);
      }
    }
    return command;
  }

  private static Map<String, StatusSource> statusSources() {
    Map<String, StatusSource> words = new LinkedHashMap<>();
    for (StatusSource from : StatusSource.values()) {
      words.put(from.label(), from);
    }
    return words;
  }

  private static void refusePreExisting(ConfigObject in) {
    ConfigValue value = in.find("errors");
    Json.@Nullable Obj errors = value == null ? null : value.object();
    if (value != null && errors != null && !errors.isEmpty()) {
      value.error(PRE_EXISTING, "correct what it reports, then remove \"errors\"");
    }
  }
}
