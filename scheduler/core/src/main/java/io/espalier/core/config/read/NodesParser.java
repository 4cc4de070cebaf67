package io.espalier.core.config.read;

import io.espalier.core.config.Levels;
import io.espalier.core.config.NodeChangeGuard;
import io.espalier.core.config.NodeOrder;
import io.espalier.core.config.NodeSourceSpec;
import io.espalier.core.json.Json;
import io.espalier.core.json.JsonWriter;
import io.espalier.core.problem.Problem.Severity;
import io.espalier.core.problem.Suggestions;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HexFormat;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Parses {@code bistro_settings.nodes}. */
final class NodesParser {
  private static final int HASH_LENGTH = 32;
  private static final double MOST_PERCENT = 1e9;

  /** The mark of a quarantined answer: hexadecimal digits. */
  private static final Pattern MARK = Pattern.compile("[0-9a-f]{12}");

  private NodesParser() {}

  /** Returns null when they are missing or broken. */
  static @Nullable Levels readLevels(ConfigObject nodes) {
    ConfigValue value = nodes.require("levels", "a list of level names, the top one first");
    List<ConfigValue> items = value == null ? null : value.items();
    if (items == null) {
      return null;
    }
    Set<String> levels = new LinkedHashSet<>();
    boolean good = true;
    for (ConfigValue item : items) {
      String level = item.name("the name of a level");
      if (level == null) {
        good = false;
      } else if (level.equals(Levels.INSTANCE) || level.equals(Levels.WORKER)) {
        item.error("the level \"" + level + "\" is always there, it must not be listed", null);
        good = false;
      } else if (!levels.add(level)) {
        item.warning("the level is listed twice", "remove one");
      }
    }
    return good ? Levels.of(List.copyOf(levels)) : null;
  }

  static List<NodeSourceSpec> readSources(
      ConfigObject nodes, Levels levels, Collection<String> knownTypes) {
    ConfigValue value = nodes.find("node_sources");
    if (value == null) {
      if (!levels.configured().isEmpty()) {
        nodes.missing(
            Severity.WARNING, "node_sources", "there are none: only the instance node will exist");
      }
      return List.of();
    }
    List<ConfigValue> items = value.items();
    if (items == null) {
      return List.of();
    }
    if (items.isEmpty()) {
      value.warning("there are no node sources: only the instance node will exist", null);
    }
    List<NodeSourceSpec> sources = new ArrayList<>();
    for (ConfigValue item : items) {
      NodeSourceSpec source = readSource(item, knownTypes);
      if (source != null) {
        sources.add(source);
      }
    }
    return sources;
  }

  private static @Nullable NodeSourceSpec readSource(
      ConfigValue item, Collection<String> knownTypes) {
    ConfigObject in = item.fields(ConfigSection.NODE_SOURCE);
    ConfigValue type = in == null ? null : in.require("source", "the name of a node source");
    String name = type == null ? null : type.text();
    if (in == null || type == null || name == null) {
      return null;
    }
    if (!knownTypes.contains(name)) {
      type.warning(
          "unknown node source, fetching nodes will fail", Suggestions.hint(name, knownTypes));
    }
    return new NodeSourceSpec(
        name, in.object("prefs", Json.Obj.EMPTY), readGuard(in), item.path().toString());
  }

  private static NodeChangeGuard readGuard(ConfigObject source) {
    NodeChangeGuard usual = NodeChangeGuard.DEFAULT;
    ConfigValue value = source.find("change_guard");
    ConfigObject in = value == null ? null : value.fields(ConfigSection.CHANGE_GUARD);
    String allow = readAllowed(source.find("allow_change"));
    if (in == null) {
      return new NodeChangeGuard(
          usual.enabled(),
          usual.removedPercent(),
          usual.addedPercent(),
          usual.reparentedPercent(),
          usual.confirmations(),
          allow);
    }
    return new NodeChangeGuard(
        in.bool("enabled", usual.enabled()),
        in.number("removed_percent", usual.removedPercent(), 0, 100),
        in.number("added_percent", usual.addedPercent(), 0, MOST_PERCENT),
        in.number("reparented_percent", usual.reparentedPercent(), 0, 100),
        in.int32("confirmations", usual.confirmations(), 0),
        allow);
  }

  /** True, false, or the mark of one quarantined answer. */
  private static String readAllowed(@Nullable ConfigValue value) {
    if (value == null || value.isFalse()) {
      return "";
    }
    if (value.json() instanceof Json.Str mark && MARK.matcher(mark.value()).matches()) {
      return mark.value();
    }
    Boolean all = value.bool();
    return all != null && all ? NodeChangeGuard.ANY : "";
  }

  /** {@code nodes.node_order}, or the one that Bistro's documentation puts into the settings. */
  static NodeOrder readOrder(ConfigObject settings, @Nullable ConfigObject nodes) {
    ConfigValue misplaced = settings.findObsolete("node_order");
    NodeOrder order = misplaced == null ? null : misplaced.oneOf(SettingsParser.nodeOrders());
    NodeOrder otherwise = order == null ? NodeOrder.RANDOM : order;
    return nodes == null
        ? otherwise
        : nodes.oneOf("node_order", otherwise, SettingsParser.nodeOrders());
  }

  /**
   * Identifies the input from which the nodes are made: SHA-256 of the compact text, shortened. The
   * order of keys matters, because the node order {@code original} follows it; blanks and comments
   * do not.
   */
  static String hash(Json.Obj settings) {
    Json nodes = settings.get("nodes");
    String text = nodes == null ? "" : JsonWriter.compact(nodes);
    try {
      byte[] digest =
          MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
      return HexFormat.of().formatHex(digest).substring(0, HASH_LENGTH);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java has SHA-256", e);
    }
  }
}
