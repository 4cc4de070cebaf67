package io.espalier.cli.client.forecast;

import io.espalier.core.config.Config;
import io.espalier.core.config.Job;
import io.espalier.core.config.Levels;
import io.espalier.core.config.Resource;
import io.espalier.core.config.read.ConfigParser;
import io.espalier.core.json.Json;
import io.espalier.core.problem.Problem;
import io.espalier.core.problem.Suggestions;
import io.espalier.core.status.store.Brake;
import io.espalier.core.status.store.LimitOverride;
import io.espalier.core.text.ShortText;
import io.espalier.core.topology.Topology;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Reads the changes of a what-if, and finds their levels, nodes and resources. Methods throw {@link
 * IllegalArgumentException} with a message for the user.
 */
final class ChangeParser {
  private static final BigDecimal MILLION = BigDecimal.valueOf(Brake.ONE);
  private static final List<String> JOB_KEYS = List.of("enabled", "max_concurrent", "priority");
  private static final String NEEDS = "resources";
  private static final Pattern NUMBER = Pattern.compile("-?[0-9]{1,18}(\\.[0-9]{1,18})?");

  private final Config config;
  private final Topology nodes;
  private final ConfigParser parser;

  /**
   * @param parser knows the plug-ins of the scheduler
   */
  ChangeParser(Config config, Topology nodes, ConfigParser parser) {
    this.config = config;
    this.nodes = nodes;
    this.parser = parser.inShard(config.shard());
  }

  /** Reads {@code LEVEL.RESOURCE=LIMIT} or {@code LEVEL/NODE.RESOURCE=LIMIT}. */
  LimitOverride limit(String text) {
    String what = "--set \"" + text + "\"";
    int equals = text.lastIndexOf('=');
    int dot = text.lastIndexOf('.', Math.max(0, equals));
    if (equals < 0 || dot <= 0) {
      throw new IllegalArgumentException(
          what + " must be like host.slots=3, or host/h1.slots=3 for one node");
    }
    String name = text.substring(dot + 1, equals);
    Resource resource = resource(what, name);
    String owner = nodes.levels().name(resource.level());
    String place = text.substring(0, dot);
    int slash = place.indexOf('/');
    String level = slash < 0 ? place : place.substring(0, slash);
    if (!level.equals(owner)) {
      throw new IllegalArgumentException(
          what + ": \"" + name + "\" is a resource of the level " + owner + ", not of " + level);
    }
    String node = slash < 0 ? "" : place.substring(slash + 1);
    if (slash >= 0 && resource.level() < nodes.levels().worker()) {
      find(what, resource.level(), node);
    }
    return new LimitOverride(
        level, name, node, whole(what, text.substring(equals + 1)), "", "", 0, 0);
  }

  private Resource resource(String what, String name) {
    Resource resource = config.settings().resources().find(name);
    if (resource == null) {
      List<String> known =
          config.settings().resources().all().stream().map(Resource::name).sorted().toList();
      throw new IllegalArgumentException(
          what + ": there is no resource \"" + name + "\"" + hint(name, known));
    }
    return resource;
  }

  private static int whole(String what, String text) {
    try {
      int limit = Integer.parseInt(text);
      if (limit >= 0) {
        return limit;
      }
    } catch (NumberFormatException e) {
      // Reported below, together with negative numbers.
    }
    throw new IllegalArgumentException(what + ": a limit is a whole number from 0");
  }

  /** Reads {@code NODE=SHARE}, {@code LEVEL/NODE=SHARE} or {@code all=SHARE}. */
  Brake brake(String text) {
    String what = "--brake \"" + text + "\"";
    int equals = text.lastIndexOf('=');
    if (equals <= 0) {
      throw new IllegalArgumentException(what + " must be like rack4=0, or all=0.5");
    }
    String place = text.substring(0, equals);
    Brake.Key key = place.equals("all") ? Brake.Key.all() : key(what, place);
    int share = share(what, text.substring(equals + 1));
    return Brake.of(key, share).build();
  }

  /** Reads the name of a paused job. */
  String paused(String job, Set<String> paused) {
    String what = "--resume \"" + job + "\"";
    Job unused = job(what, job);
    if (!paused.contains(job)) {
      throw new IllegalArgumentException(
          what
              + ": the job is not paused"
              + (paused.isEmpty() ? "; no job is" : "; paused: " + ShortText.few(paused, ", ")));
    }
    return job;
  }

  /**
   * Reads {@code JOB.KEY=VALUE}, where the key is {@code resources.NAME} for what a task needs;
   * returns the changed jobs by name.
   */
  Map<String, Job> jobs(List<String> texts) {
    Map<String, Job> changed = new TreeMap<>();
    for (String text : texts) {
      String what = "--job \"" + text + "\"";
      int equals = Math.max(0, text.lastIndexOf('='));
      int needs = text.lastIndexOf("." + NEEDS + ".", equals);
      int dot = needs < 0 ? text.lastIndexOf('.', equals) : needs;
      if (equals == 0 || dot <= 0) {
        throw new IllegalArgumentException(
            what + " must be like backup.max_concurrent=4, or backup.resources.slots=2");
      }
      String name = text.substring(0, dot);
      Job old = job(what, name);
      Job job = changed.getOrDefault(name, old);
      Json.Obj next =
          with(
              what,
              job.original(),
              text.substring(dot + 1, equals),
              value(text.substring(equals + 1)));
      Set<String> known =
          read(job, job.original()).problems().stream()
              .map(Problem::message)
              .collect(Collectors.toSet());
      Job read = read(job, next);
      for (Problem problem : read.problems()) {
        if (problem.isError() && !known.contains(problem.message())) {
          throw new IllegalArgumentException(
              what
                  + ": "
                  + problem.message()
                  + (problem.hint() == null ? "" : "; " + problem.hint()));
        }
      }
      // The copy of a configuration lacks parts whose absence can be a problem.
      changed.put(name, read.withProblems(old.problems()));
    }
    return changed;
  }

  private Json.Obj with(String what, Json.Obj job, String key, Json value) {
    String prefix = NEEDS + ".";
    if (key.startsWith(prefix)) {
      String name = resource(what, key.substring(prefix.length())).name();
      Json.Obj needs = job.get(NEEDS) instanceof Json.Obj given ? given : Json.Obj.EMPTY;
      return job.with(NEEDS, needs.with(name, value));
    }
    if (!JOB_KEYS.contains(key)) {
      List<String> known = new ArrayList<>(JOB_KEYS);
      known.add(prefix + "NAME");
      throw new IllegalArgumentException(
          what + ": a what-if cannot change \"" + key + "\" of a job" + hint(key, known));
    }
    return job.with(key, value);
  }

  private static Json value(String text) {
    if (text.equals("true") || text.equals("false")) {
      return text.equals("true") ? Json.Bool.TRUE : Json.Bool.FALSE;
    }
    return NUMBER.matcher(text).matches() ? new Json.Num(new BigDecimal(text)) : Json.of(text);
  }

  /** Parses a job within its configuration, from which it inherits. */
  private Job read(Job job, Json.Obj text) {
    Json.Builder document = Json.object().put(Config.SETTINGS_KEY, config.settings().original());
    config.jobs().forEach((name, other) -> document.put(Config.JOB_KEY + name, other.original()));
    document.put(Config.JOB_KEY + job.name(), text);
    Config read = Objects.requireNonNull(parser.inspect(document.build()).value());
    return Objects.requireNonNull(read.job(job.name()));
  }

  private Job job(String what, String name) {
    Job job = config.job(name);
    if (job == null) {
      throw new IllegalArgumentException(
          what
              + ": there is no job \""
              + name
              + "\""
              + hint(name, List.copyOf(config.jobs().keySet())));
    }
    return job;
  }

  private static int share(String what, String text) {
    try {
      BigDecimal share = new BigDecimal(text);
      if (share.signum() >= 0 && share.compareTo(BigDecimal.ONE) < 0) {
        return share.multiply(MILLION).intValue();
      }
    } catch (NumberFormatException e) {
      // Reported below, together with numbers out of range.
    }
    throw new IllegalArgumentException(
        what + ": what is left of the limits is a number from 0 (nothing starts) to below 1");
  }

  private Brake.Key key(String what, String place) {
    Levels levels = nodes.levels();
    for (int level = 0; level < levels.worker(); level++) {
      String prefix = levels.name(level) + "/";
      if (place.startsWith(prefix)) {
        String node = place.substring(prefix.length());
        find(what, level, node);
        return new Brake.Key(Brake.Target.NODE, levels.name(level), node);
      }
    }
    List<String> found = new ArrayList<>();
    for (int level = 0; level < levels.worker(); level++) {
      if (nodes.find(level, place) >= 0) {
        found.add(levels.name(level));
      }
    }
    if (found.size() == 1) {
      return new Brake.Key(Brake.Target.NODE, found.get(0), place);
    }
    if (found.size() > 1) {
      throw new IllegalArgumentException(
          what + ": several levels have such a node: say " + found.get(0) + "/" + place);
    }
    throw noNode(what, place, 0, nodes.size());
  }

  private void find(String what, int level, String node) {
    if (nodes.find(level, node) < 0) {
      throw noNode(what, node, nodes.levelStart(level), nodes.levelEnd(level));
    }
  }

  private IllegalArgumentException noNode(String what, String node, int from, int to) {
    List<String> some = new ArrayList<>();
    for (int i = from; i < Math.min(to, from + 10_000); i++) {
      some.add(nodes.name(i));
    }
    return new IllegalArgumentException(
        what + ": there is no node \"" + node + "\"" + hint(node, some));
  }

  private static String hint(String name, List<String> known) {
    @Nullable String near = Suggestions.didYouMean(name, known);
    if (near != null) {
      return "; " + near;
    }
    return known.isEmpty() || known.size() > 10 ? "" : "; there are " + String.join(", ", known);
  }
}
