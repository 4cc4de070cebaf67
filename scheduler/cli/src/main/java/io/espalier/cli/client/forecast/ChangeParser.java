package io.espalier.cli.client.forecast;

import io.espalier.core.config.Config;
import io.espalier.core.config.Levels;
import io.espalier.core.config.Resource;
import io.espalier.core.problem.Suggestions;
import io.espalier.core.status.store.Brake;
import io.espalier.core.status.store.LimitOverride;
import io.espalier.core.topology.Topology;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Reads the changes of a what-if, and finds their levels, nodes and resources. Methods throw {@link
 * IllegalArgumentException} with a message for the user.
 */
final class ChangeParser {
  private static final int TYPOS = 2;
  private static final BigDecimal MILLION = BigDecimal.valueOf(Brake.ONE);

  private final Config config;
  private final Topology nodes;

  ChangeParser(Config config, Topology nodes) {
    this.config = config;
    this.nodes = nodes;
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
    List<String> known =
        config.settings().resources().all().stream().map(Resource::name).sorted().toList();
    Resource resource = config.settings().resources().find(name);
    if (resource == null) {
      throw new IllegalArgumentException(
          what + ": there is no resource \"" + name + "\"" + hint(name, known));
    }
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
    if (config.job(job) == null) {
      throw new IllegalArgumentException(
          what
              + ": there is no job \""
              + job
              + "\""
              + hint(job, List.copyOf(config.jobs().keySet())));
    }
    if (!paused.contains(job)) {
      throw new IllegalArgumentException(
          what
              + ": the job is not paused"
              + (paused.isEmpty() ? "; no job is" : "; paused: " + String.join(", ", paused)));
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
    @Nullable String near = Suggestions.closest(name, known, TYPOS);
    if (near != null) {
      return "; did you mean \"" + near + "\"?";
    }
    return known.isEmpty() || known.size() > 10 ? "" : "; there are " + String.join(", ", known);
  }
}
