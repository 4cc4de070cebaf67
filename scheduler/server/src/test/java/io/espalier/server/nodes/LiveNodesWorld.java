package io.espalier.server.nodes;

import io.espalier.core.config.Levels;
import io.espalier.core.config.NodeSourceSpec;
import io.espalier.core.config.Partition;
import io.espalier.core.config.Settings;
import io.espalier.core.json.Json;
import io.espalier.core.pace.Jitter;
import io.espalier.core.problem.Problem;
import io.espalier.core.problem.Result;
import io.espalier.core.topology.NodeLookup;
import io.espalier.core.topology.NodeSink;
import io.espalier.core.topology.NodeSource;
import io.espalier.core.topology.NodeSourceContext;
import io.espalier.core.topology.NodeSourceException;
import io.espalier.core.topology.NodeSourceType;
import io.espalier.core.topology.NodeSpec;
import io.espalier.core.topology.Topology;
import io.espalier.nodes.AddTimeNodes;
import io.espalier.nodes.ManualNodes;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.IntStream;

/** Sources of which a test says what is there, and a clock that is set by hand. */
abstract class LiveNodesWorld {
  static final Duration REFRESH = Duration.ofMinutes(5);
  static final Duration RETRY = Duration.ofSeconds(30);
  static final Instant T0 = Instant.ofEpochSecond(1_000_000);

  /** What the sources called "outside" answer, by their preference "id". */
  final Map<String, Outside> outside = new HashMap<>();

  Instant now = T0;
  int newsHeard;

  /** What was saved for the next start, and how often. */
  String saved = "";

  int saves;
  boolean memoryAway;

  NodeSourceCoordinator nodes = nodes();

  /** An outside of which a test says what is there. */
  static final class Outside {
    /** Lines {@code name} or {@code parent/name}; a minus behind those disabled. */
    List<String> answer = List.of();

    boolean broken;
    int asked;
    int closed;
    Optional<Duration> pace = Optional.empty();
    Runnable changed = () -> {};
  }

  /** {@code outside}: nodes of {@code level}, children of the level above. */
  final class OutsideType implements NodeSourceType {
    @Override
    public String name() {
      return "outside";
    }

    @Override
    public Result<NodeSource> create(
        NodeSourceSpec spec, Levels levels, NodeSourceContext context) {
      Outside here = outside(((Json.Str) Objects.requireNonNull(spec.prefs().get("id"))).value());
      int level =
          levels.find(((Json.Str) Objects.requireNonNull(spec.prefs().get("level"))).value());
      boolean curious = spec.prefs().get("curious") != null;
      return new Result<>(
          new NodeSource() {
            @Override
            public void fetch(NodeLookup soFar, Instant at, NodeSink sink)
                throws NodeSourceException {
              here.asked++;
              if (here.broken) {
                throw new NodeSourceException(List.of(Problem.error(spec.path(), "it is away")));
              }
              List<String> parents = curious ? soFar.names(level - 1) : List.of();
              for (String parent : parents) {
                sink.add(NodeSpec.child(level, parent + ".x", level == 1 ? null : parent));
              }
              for (String line : here.answer) {
                int slash = line.indexOf('/');
                sink.add(
                    NodeSpec.child(
                        level,
                        line.substring(slash + 1),
                        slash < 0 ? null : line.substring(0, slash)));
              }
            }

            @Override
            public Optional<Duration> refreshEvery() {
              return here.pace;
            }

            @Override
            public void watch(Runnable changed) {
              here.changed = changed;
            }

            @Override
            public void close() {
              here.closed++;
            }
          },
          List.of());
    }
  }

  Outside outside(String id) {
    return outside.computeIfAbsent(id, fresh -> new Outside());
  }

  NodeSourceCoordinator nodes() {
    return nodes(Partition.WHOLE);
  }

  NodeSourceCoordinator nodes(Partition shard) {
    Map<String, NodeSourceType> types = new HashMap<>();
    for (NodeSourceType type :
        List.of(new OutsideType(), new AddTimeNodes.Type(), new ManualNodes.Type())) {
      types.put(type.name(), type);
    }
    NodeSourceCoordinator made =
        new NodeSourceCoordinator(
            new NodeFetcher(types, "here", new NodeSourceContext("", ""), shard),
            REFRESH,
            RETRY,
            () -> now,
            !shard.isWhole()
                ? NodesMemory.NONE
                : new NodesMemory() {
                  @Override
                  public String load() {
                    if (memoryAway) {
                      throw new IllegalStateException("the store is away");
                    }
                    return saved;
                  }

                  @Override
                  public void save(String text) {
                    saved = text;
                    saves++;
                  }
                },
            Jitter.NONE);
    made.onNews(() -> newsHeard++);
    return made;
  }

  static String source(String id, String level, String more) {
    return "{'source': 'outside', 'prefs': {'id': '%s', 'level': '%s'}%s}"
        .formatted(id, level, more);
  }

  static Settings settings(String levels, String... sources) {
    return SettingsText.nodes(
        "'node_order': 'original', 'levels': [%s], 'node_sources': [%s]"
            .formatted(levels, String.join(", ", sources)));
  }

  static Settings hosts(String more) {
    return settings("'host'", source("a", "host", more));
  }

  static Settings hostsAndDbs() {
    return settings("'host', 'db'", source("a", "host", ""), source("b", "db", ""));
  }

  static List<String> some(int count) {
    return IntStream.range(0, count).mapToObj(i -> "h" + i).toList();
  }

  static List<String> names(Result<Topology> result) {
    Topology t = Objects.requireNonNull(result.value(), () -> result.problems().toString());
    List<String> names = new ArrayList<>();
    for (int node = 1; node < t.size(); node++) {
      names.add(t.name(node));
    }
    return names;
  }

  static List<String> messages(Result<Topology> result) {
    return result.problems().stream().map(Problem::message).toList();
  }

  Result<Topology> after(Settings settings, long seconds) throws InterruptedException {
    now = now.plusSeconds(seconds);
    return nodes.refresh(settings, now);
  }
}
