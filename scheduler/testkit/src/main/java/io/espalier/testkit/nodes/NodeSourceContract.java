package io.espalier.testkit.nodes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.espalier.core.config.Levels;
import io.espalier.core.config.NodeSourceSpec;
import io.espalier.core.json.Json;
import io.espalier.core.json.JsonWriter;
import io.espalier.core.problem.Problem;
import io.espalier.core.problem.Result;
import io.espalier.core.topology.NodeSource;
import io.espalier.core.topology.NodeSourceContext;
import io.espalier.core.topology.NodeSourceException;
import io.espalier.core.topology.NodeSourceType;
import io.espalier.core.topology.NodeSpec;
import io.espalier.core.topology.TopologyBuilder;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.ServiceLoader;
import org.junit.jupiter.api.Test;

/**
 * The contract of every node source. Extend it with a test of your source: a few overrides describe
 * the source and what it delivers, and the tests of the contract are inherited.
 */
public abstract class NodeSourceContract {
  /** The path of the configuration entry that the tests pass to the source. */
  protected static final String PATH = "bistro_settings.nodes.node_sources[1]";

  protected static final Instant NOW = Instant.ofEpochSecond(1_700_000_000);

  /** Returns the type of source under test. */
  protected abstract NodeSourceType type();

  /** Returns a valid configuration and what it delivers. */
  protected abstract Example example() throws Exception;

  /**
   * Returns preferences with several errors, and the path of each error, relative to the
   * preferences ({@code start}, {@code host1[2]}, {@code ["two words"]}); empty if the source has
   * no preferences that could be wrong.
   */
  protected abstract Map<Json.Obj, List<String>> badPrefs() throws Exception;

  /**
   * Returns preferences that are valid but cannot deliver with {@link #example}'s earlier nodes.
   */
  protected List<Json.Obj> failingPrefs() throws Exception {
    return List.of();
  }

  /** Returns whether a key of the preferences is a setting and not data. */
  protected boolean keysAreSettings() {
    return true;
  }

  /** Returns the base of relative paths. */
  protected String configDirectory() {
    return "";
  }

  /**
   * @param earlier nodes of previous sources, parents first
   * @param expected nodes that the source adds to them, in order
   */
  public record Example(
      Levels levels, Json.Obj prefs, List<NodeSpec> earlier, List<NodeSpec> expected) {}

  /** Parses the preferences with the source's type. */
  protected final Result<NodeSource> create(Levels levels, Json.Obj prefs) {
    return type()
        .create(
            new NodeSourceSpec(type().name(), prefs, PATH),
            levels,
            new NodeSourceContext(configDirectory(), ""));
  }

  /** Returns a source from valid preferences. */
  protected final NodeSource source(Levels levels, Json.Obj prefs) {
    Result<NodeSource> result = create(levels, prefs);
    assertThat(result.problems()).isEmpty();
    return Objects.requireNonNull(result.value());
  }

  private NodeSource exampleSource() throws Exception {
    return source(example().levels(), example().prefs());
  }

  private static List<NodeSpec> fetch(NodeSource source, Example example) throws Exception {
    return NodeRecorder.fetch(source, example.levels(), example.earlier(), NOW);
  }

  @Test
  void theServiceLoaderFindsIt() {
    assertThat(ServiceLoader.load(NodeSourceType.class))
        .filteredOn(found -> found.name().equals(type().name()))
        .hasOnlyElementsOfType(type().getClass())
        .hasSize(1);
  }

  @Test
  void itDeliversWhatTheExampleSays() throws Exception {
    assertThat(fetch(exampleSource(), example())).isEqualTo(example().expected());
  }

  @Test
  void itDeliversTheSameEveryTime() throws Exception {
    NodeSource source = exampleSource();
    assertThat(fetch(source, example())).isEqualTo(fetch(source, example()));
    assertThat(fetch(exampleSource(), example())).isEqualTo(fetch(source, example()));
  }

  @Test
  void parentsComeBeforeTheirChildrenAndTheTreeIsSound() throws Exception {
    TopologyBuilder builder = new TopologyBuilder(example().levels(), NodeRecorder.INSTANCE);
    example().earlier().forEach(builder::add);
    exampleSource().fetch(builder, NOW, builder);
    assertThat(builder.problems()).isEmpty();
  }

  @Test
  void itLeavesItsPreferencesAlone() throws Exception {
    String before = JsonWriter.compact(example().prefs());
    fetch(exampleSource(), example());
    assertThat(JsonWriter.compact(example().prefs())).isEqualTo(before);
  }

  @Test
  void allBadPreferencesAreReportedAtOnceWithTheirPaths() throws Exception {
    for (Map.Entry<Json.Obj, List<String>> bad : badPrefs().entrySet()) {
      Result<NodeSource> result = create(example().levels(), bad.getKey());
      assertThat(result.value()).as("source from %s", bad.getKey()).isNull();
      List<String> paths =
          result.problems().stream().filter(Problem::isError).map(Problem::path).toList();
      List<String> expected = new ArrayList<>();
      for (String key : bad.getValue()) {
        expected.add(PATH + ".prefs" + (key.startsWith("[") ? "" : ".") + key);
      }
      assertThat(paths)
          .as("paths for %s", bad.getKey())
          .containsExactlyInAnyOrderElementsOf(expected);
    }
  }

  @Test
  void anUnknownKeyIsAWarningAndACommentIsNothing() throws Exception {
    if (!keysAreSettings()) {
      return;
    }
    Json.Obj prefs =
        example()
            .prefs()
            .with("_why", Json.of("because"))
            .with("// more", Json.of("of it"))
            .with("entirely_unheard_of", Json.of(1));
    Result<NodeSource> result = create(example().levels(), prefs);
    assertThat(result.value()).isNotNull();
    assertThat(result.problems())
        .singleElement()
        .satisfies(
            problem -> {
              assertThat(problem.isError()).isFalse();
              assertThat(problem.path()).isEqualTo(PATH + ".prefs.entirely_unheard_of");
            });
  }

  @Test
  void aMistypedKeyIsAnErrorThatNamesTheRightOne() throws Exception {
    if (!keysAreSettings()) {
      return;
    }
    for (String key : example().prefs().members().keySet()) {
      String mistyped = key + "x";
      Json.Obj prefs = example().prefs().with(mistyped, Json.of(1));
      Result<NodeSource> result = create(example().levels(), prefs);
      assertThat(result.value()).isNull();
      assertThat(result.problems())
          .filteredOn(Problem::isError)
          .singleElement()
          .satisfies(
              problem -> {
                assertThat(problem.path()).isEqualTo(PATH + ".prefs." + mistyped);
                assertThat(problem.hint()).isEqualTo("did you mean \"" + key + "\"?");
              });
    }
  }

  @Test
  void whenItCannotDeliverItSaysWhyAndThrows() throws Exception {
    for (Json.Obj prefs : failingPrefs()) {
      NodeSource source = source(example().levels(), prefs);
      assertThatThrownBy(() -> fetch(source, example()))
          .as("fetch with %s", prefs)
          .isInstanceOfSatisfying(
              NodeSourceException.class,
              e -> {
                assertThat(e.problems()).isNotEmpty().allMatch(Problem::isError);
                assertThat(e.problems()).allMatch(p -> p.path().startsWith(PATH));
              });
    }
  }
}
