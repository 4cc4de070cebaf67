package io.espalier.nodes;

import io.espalier.core.config.Levels;
import io.espalier.core.config.NodeSourceSpec;
import io.espalier.core.json.Json;
import io.espalier.core.problem.Problem;
import io.espalier.core.problem.Result;
import io.espalier.core.topology.NodeLookup;
import io.espalier.core.topology.NodeSink;
import io.espalier.core.topology.NodeSource;
import io.espalier.core.topology.NodeSourceContext;
import io.espalier.core.topology.NodeSourceException;
import io.espalier.core.topology.NodeSourceType;
import io.espalier.core.topology.NodeSpec;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * {@code range_label}: adds numbered children under every node of a level
 * (docs/design/bistro.md#the-source-range_label).
 *
 * <p>Preferences: {@code parent_level}; {@code start} and {@code end}, inclusive, no children when
 * start is after end; {@code format} of the names (default {@code {parent}__{i}}, placeholders
 * {@code {parent} {i} {start} {end}}, a literal brace is written twice); {@code enabled}. A format
 * without {@code {parent}} makes the children of several parents replicas of each other.
 */
public final class RangeLabelNodes implements NodeSource {
  /** The maximum number of nodes of one source: beyond it, start and end are surely a mistake. */
  public static final long MAX_NODES = 10_000_000;

  /** The number of names created between two checks for interruption of the thread. */
  private static final int CHECK_EVERY = 4096;

  private final int parentLevel;
  private final long start;
  private final long count;
  private final NameFormat format;
  private final boolean enabled;
  private final String path;

  private RangeLabelNodes(
      int parentLevel, long start, long count, NameFormat format, boolean enabled, String path) {
    this.parentLevel = parentLevel;
    this.start = start;
    this.count = count;
    this.format = format;
    this.enabled = enabled;
    this.path = path;
  }

  @Override
  public boolean isComputed() {
    return true;
  }

  @Override
  public void fetch(NodeLookup soFar, Instant now, NodeSink sink)
      throws NodeSourceException, InterruptedException {
    List<String> parents = soFar.names(parentLevel);
    if (parents.size() * (double) count > MAX_NODES) {
      throw new NodeSourceException(
          List.of(
              Problem.error(
                  path,
                  "%,d children for each of %,d parents are more than the %,d nodes allowed"
                      .formatted(count, parents.size(), MAX_NODES))));
    }
    long made = 0;
    for (String parent : parents) {
      for (long k = 0; k < count; k++) {
        if (++made % CHECK_EVERY == 0 && Thread.interrupted()) {
          throw new InterruptedException();
        }
        sink.add(
            new NodeSpec(
                parentLevel + 1,
                name(parent, start + k),
                parent,
                parentLevel,
                enabled,
                Set.of(),
                Json.Obj.EMPTY));
      }
    }
  }

  private String name(String parent, long i) {
    return format.name(
        placeholder ->
            switch (placeholder) {
              case "parent" -> parent;
              case "i" -> Long.toString(i);
              case "start" -> Long.toString(start);
              default -> Long.toString(start + count - 1);
            });
  }

  /** Checks the preferences and creates the source. */
  public static final class Type implements NodeSourceType {
    @Override
    public String name() {
      return "range_label";
    }

    @Override
    public Result<NodeSource> create(
        NodeSourceSpec spec, Levels levels, NodeSourceContext context) {
      Prefs prefs = new Prefs(spec);
      int parentLevel = prefs.parentLevel(levels);
      Long start = prefs.requireInteger("start");
      Long end = prefs.requireInteger("end");
      String text = prefs.string("format", "a string", "{parent}__{i}");
      boolean enabled = prefs.bool("enabled", true);
      NameFormat format =
          NameFormat.read("format", text, List.of("end", "i", "parent", "start"), prefs);
      long count = start == null || end == null ? 0 : count(start, end, format, prefs);
      long from = start == null ? 0 : start;
      return prefs.finish(
          () -> new RangeLabelNodes(parentLevel, from, count, format, enabled, spec.path()));
    }

    private static long count(long start, long end, NameFormat format, Prefs prefs) {
      if (start > end) {
        return 0;
      }
      // The difference of two longs may overflow; the limit is far below.
      if (end - start < 0 || end - start >= MAX_NODES) {
        problem(
            prefs,
            "end",
            "the range from %d to %d has more than the %,d nodes allowed"
                .formatted(start, end, MAX_NODES),
            null);
        return 0;
      }
      if (end > start && !format.uses("i")) {
        problem(
            prefs,
            "format",
            "without {i} all children of a parent would have the same name",
            "put {i} into the format");
      }
      return end - start + 1;
    }

    private static void problem(Prefs prefs, String key, String message, @Nullable String hint) {
      Json value = prefs.object().get(key);
      prefs.error(
          prefs.at(key), value == null ? prefs.object().at() : value.at(), value, message, hint);
    }
  }
}
