package io.espalier.server.nodes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.espalier.core.config.Levels;
import io.espalier.core.config.NodeSourceSpec;
import io.espalier.core.config.Settings;
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
import io.espalier.nodes.EmptyNodes;
import io.espalier.nodes.ManualNodes;
import io.espalier.nodes.RangeLabelNodes;
import io.espalier.server.app.Plugins;
import io.espalier.testkit.config.ConfigFixtures;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class NodeFetcherTest {
  private static final Instant NOW = Instant.ofEpochSecond(1000);

  private static final String TWO_SOURCES =
      "'levels': ['host', 'db'], 'node_sources': ["
          + "{'source': 'manual', 'prefs': {'h2': [], 'h1': []}},"
          + "{'source': '%s', 'prefs': {'parent_level': 'host', 'start': 1, 'end': 1}}]";

  private static NodeFetcher fetcher(NodeSourceType... more) {
    Map<String, NodeSourceType> types = new HashMap<>();
    for (NodeSourceType type :
        List.of(new EmptyNodes.Type(), new ManualNodes.Type(), new RangeLabelNodes.Type())) {
      types.put(type.name(), type);
    }
    for (NodeSourceType type : more) {
      types.put(type.name(), type);
    }
    return new NodeFetcher(types, "here", new NodeSourceContext("", ""));
  }

  private static List<String> lines(Result<Topology> result) {
    return result.problems().stream().map(p -> p.path() + ": " + p.message()).toList();
  }

  /** A source that does what it is told. */
  private static NodeSourceType type(String name, NodeSource source) {
    return new NodeSourceType() {
      @Override
      public String name() {
        return name;
      }

      @Override
      public Result<NodeSource> create(
          NodeSourceSpec spec, Levels levels, NodeSourceContext context) {
        return new Result<>(source, List.of());
      }
    };
  }

  @Test
  void n6SourcesRunInOrderUnderTheInstanceAndNodesAreGroupedByLevel() throws Exception {
    Settings settings = SettingsText.nodes(TWO_SOURCES.formatted("range_label"));
    Result<Topology> result = fetcher().fetch(settings, NOW);
    assertThat(result.problems()).isEmpty();
    Topology t = Objects.requireNonNull(result.value());
    assertThat(t.name(0)).isEqualTo("here");
    assertThat(names(t, 1)).containsExactly("h2", "h1");
    assertThat(names(t, 2)).containsExactly("h2__1", "h1__1");
    assertThat(names(t, 3)).as("no nodes are on the worker level").isEmpty();
    assertThat(t.levels().find("no such level")).isEqualTo(-1);
  }

  private static List<String> names(Topology t, int level) {
    return IntStream.range(t.levelStart(level), t.levelEnd(level)).mapToObj(t::name).toList();
  }

  @Test
  void theNodeOrderOfTheSettingsIsApplied() throws Exception {
    Settings settings =
        SettingsText.nodes(
            "'node_order': 'lexicographic', " + TWO_SOURCES.formatted("range_label"));
    Topology t = Objects.requireNonNull(fetcher().fetch(settings, NOW).value());
    assertThat(names(t, 1)).containsExactly("h1", "h2");
    assertThat(names(t, 2)).containsExactly("h1__1", "h2__1");
  }

  @Test
  void preferencesOfAllSourcesAreCheckedBeforeAnySourceRuns() throws Exception {
    List<String> ran = new ArrayList<>();
    NodeSourceType recording = type("recording", (soFar, now, sink) -> ran.add("it"));
    Settings settings =
        SettingsText.nodes(
            "'levels': ['host'], 'node_sources': [{'source': 'recording'},"
                + " {'source': 'range_label', 'prefs': {'start': 1}},"
                + " {'source': 'manual', 'prefs': {'a': 1}}]");
    Result<Topology> result = fetcher(recording).fetch(settings, NOW);
    assertThat(result.value()).isNull();
    assertThat(result.problems().stream().map(Problem::path))
        .containsExactly(
            "bistro_settings.nodes.node_sources[1].prefs.parent_level",
            "bistro_settings.nodes.node_sources[1].prefs.end",
            "bistro_settings.nodes.node_sources[2].prefs.a");
    assertThat(ran).isEmpty();
    assertThat(fetcher(recording).check(settings)).isEqualTo(result.problems());
  }

  @Test
  void warningsComeWithTheTree() throws Exception {
    Settings settings =
        SettingsText.nodes(
            "'levels': ['host'], 'node_sources': [{'source': 'empty', 'prefs': {'colour': 1}}]");
    Result<Topology> result = fetcher().fetch(settings, NOW);
    assertThat(result.value()).isNotNull();
    assertThat(result.problems()).singleElement().matches(p -> !p.isError());
  }

  @Test
  void aSourceThatFailsOrBreaksOrDeliversNonsenseYieldsNoTree() throws Exception {
    Settings settings =
        SettingsText.nodes(
            "'levels': ['host'], 'node_sources': [{'source': 'manual', 'prefs': {'a': []}},"
                + " {'source': 'bad'}]");
    String path = "bistro_settings.nodes.node_sources[1]: ";
    NodeSource failing =
        (soFar, now, sink) -> {
          sink.add(NodeSpec.child(1, "half", null));
          throw new NodeSourceException(List.of(Problem.error("there", "it is away")));
        };
    assertThat(lines(fetcher(type("bad", failing)).fetch(settings, NOW)))
        .containsExactly("there: it is away");

    NodeSource silent =
        (soFar, now, sink) -> {
          throw new NodeSourceException(List.of());
        };
    assertThat(lines(fetcher(type("bad", silent)).fetch(settings, NOW)))
        .containsExactly(path + "the source gives no reason for its failure");

    NodeSource defective =
        (soFar, now, sink) -> {
          throw new IllegalStateException("oops");
        };
    Result<Topology> defect = fetcher(type("bad", defective)).fetch(settings, NOW);
    assertThat(defect.value()).isNull();
    assertThat(lines(defect))
        .containsExactly(
            path + "the node source \"bad\" has a defect: java.lang.IllegalStateException: oops");

    NodeSource unlinked =
        (soFar, now, sink) -> {
          throw new NoClassDefFoundError("gone/Library");
        };
    assertThat(lines(fetcher(type("bad", unlinked)).fetch(settings, NOW)))
        .containsExactly(
            path
                + "the node source \"bad\" has a defect: java.lang.NoClassDefFoundError:"
                + " gone/Library");

    NodeSource nonsense =
        (soFar, now, sink) -> {
          sink.add(NodeSpec.child(1, "a", null));
          sink.add(NodeSpec.child(1, "", null));
        };
    Result<Topology> unsound = fetcher(type("bad", nonsense)).fetch(settings, NOW);
    assertThat(unsound.value()).isNull();
    assertThat(lines(unsound))
        .containsExactly(
            path + "node \"a\" of level \"host\" is listed twice under \"here\"",
            path + "the node name \"\" is empty");
  }

  @Test
  void theSourceIsToldTheInstantAndWhatIsThere() throws Exception {
    List<Object> seen = new ArrayList<>();
    NodeSource curious =
        (NodeLookup soFar, Instant now, NodeSink sink) -> {
          seen.add(now);
          seen.add(soFar.names(0));
          seen.add(soFar.names(1));
        };
    Settings settings =
        SettingsText.nodes(
            "'levels': ['host'], 'node_sources': [{'source': 'manual', 'prefs': {'a': []}},"
                + " {'source': 'curious'}]");
    fetcher(type("curious", curious)).fetch(settings, NOW);
    assertThat(seen).containsExactly(NOW, List.of("here"), List.of("a"));
  }

  @Test
  void aNameOfTheInstanceThatCannotBeIsAProblem() throws Exception {
    Settings settings = SettingsText.nodes("'levels': [], 'node_sources': []");
    assertThat(
            lines(
                new NodeFetcher(Map.of(), "a\nb", new NodeSourceContext("", ""))
                    .fetch(settings, NOW)))
        .containsExactly(
            "--instance-node-name: the name of the instance contains a control character or line"
                + " break (U+000A)");
  }

  @Test
  void interruptionIsPassedOn() {
    NodeSource slow =
        (soFar, now, sink) -> {
          throw new InterruptedException();
        };
    Settings settings = SettingsText.nodes("'levels': [], 'node_sources': [{'source': 'slow'}]");
    assertThatThrownBy(() -> fetcher(type("slow", slow)).fetch(settings, NOW))
        .isInstanceOf(InterruptedException.class);
  }

  @Test
  void thePluginsHoldTheSourcesOfThisDistribution() {
    assertThat(Plugins.load().nodeSources().keySet())
        .containsExactlyElementsOf(ConfigFixtures.NODE_SOURCES);
  }
}
