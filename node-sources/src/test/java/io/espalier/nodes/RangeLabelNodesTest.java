package io.espalier.nodes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.espalier.core.config.Levels;
import io.espalier.core.json.Json;
import io.espalier.core.topology.NodeSource;
import io.espalier.core.topology.NodeSourceType;
import io.espalier.core.topology.NodeSpec;
import io.espalier.core.topology.Topology;
import io.espalier.testkit.nodes.NodeRecorder;
import io.espalier.testkit.nodes.NodeSourceContract;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RangeLabelNodesTest extends NodeSourceContract {
  private static final Levels ONE = Levels.of(List.of("host"));
  private static final Levels TWO = Levels.of(List.of("host", "db"));

  @Override
  protected NodeSourceType type() {
    return new RangeLabelNodes.Type();
  }

  @Override
  protected Example example() {
    Json.Obj prefs =
        Tree.prefs(
            "{\"parent_level\": \"host\", \"start\": \"1\", \"end\": 2, \"format\": \"{parent}-{i}\","
                + " \"enabled\": \"false\"}");
    List<NodeSpec> earlier = List.of(NodeSpec.child(1, "a", null), NodeSpec.child(1, "b", null));
    List<NodeSpec> expected = new ArrayList<>();
    for (String parent : List.of("a", "b")) {
      for (int i = 1; i <= 2; i++) {
        expected.add(new NodeSpec(2, parent + "-" + i, parent, 1, false, Set.of(), Json.Obj.EMPTY));
      }
    }
    return new Example(TWO, prefs, earlier, expected);
  }

  @Override
  protected Map<Json.Obj, List<String>> badPrefs() {
    return Map.of(
        Json.Obj.EMPTY,
        List.of("parent_level", "start", "end"),
        Tree.prefs(
            "{\"parent_level\": \"hsot\", \"start\": 1.5, \"end\": \"many\", \"format\": \"{parnet}\","
                + " \"enabled\": 3}"),
        List.of("parent_level", "start", "end", "format", "enabled"),
        Tree.prefs(
            "{\"parent_level\": 1, \"start\": 0, \"end\": 10000000, \"format\": \"a{b\", \"enabled\":"
                + " null}"),
        List.of("parent_level", "end", "format", "enabled"),
        Tree.prefs(
            "{\"parent_level\": \"db\", \"start\": 1, \"end\": 2, \"format\": \"{parent}\"}"),
        List.of("parent_level", "format"));
  }

  @Override
  protected List<Json.Obj> failingPrefs() {
    return List.of(Tree.prefs("{\"parent_level\": \"host\", \"start\": 1, \"end\": 9000000}"));
  }

  private static String problem(Levels levels, String json) {
    List<String> problems = Tree.problems(Tree.create(new RangeLabelNodes.Type(), levels, json));
    assertThat(problems).hasSize(1);
    return problems.get(0);
  }

  private static NodeSource range(Levels levels, String json) {
    return Tree.source(new RangeLabelNodes.Type(), levels, json);
  }

  @Test
  void n7TheParentLevelMustBeThereKnownAndHaveALevelBelow() {
    String range = ", \"start\": 1, \"end\": 2}";
    assertThat(problem(TWO, "{\"start\": 1, \"end\": 2}"))
        .isEqualTo(
            Tree.PATH
                + ".prefs.parent_level: \"parent_level\" is missing: expected the name of the level"
                + " whose nodes become parents");
    assertThat(problem(TWO, "{\"parent_level\": \"volume\"" + range))
        .isEqualTo(Tree.PATH + ".prefs.parent_level: there is no level \"volume\"");
    assertThat(problem(TWO, "{\"parent_level\": \"db\"" + range))
        .isEqualTo(
            Tree.PATH
                + ".prefs.parent_level: no configured level is below \"db\", so its nodes cannot"
                + " have children");
    assertThat(problem(TWO, "{\"parent_level\": \"worker\"" + range)).contains("no configured");
    assertThat(problem(Levels.of(List.of()), "{\"parent_level\": \"instance\"" + range))
        .contains("no configured level is below \"instance\"");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "\"3\" | \"5\" | {parent}__{i} | instance__3,instance__4,instance__5",
        "-1 | 1 | c{i} | c-1,c0,c1",
        "1 | 2 | {parent}_{i}_{start}_{end} | instance_1_1_2,instance_2_1_2",
        "7 | 7 | {{{i}}} | {7}",
        "2.0 | 2e0 | {i}{i} | 22",
        "5 | 5 | fixed | fixed",
        "5 | 4 | {i} | ''",
        "9223372036854775807 | 9223372036854775807 | {i}_{end} |"
            + " 9223372036854775807_9223372036854775807"
      })
  void n8NamesFollowTheFormat(String start, String end, String format, String names)
      throws Exception {
    String json =
        "{\"parent_level\": \"instance\", \"start\": %s, \"end\": %s, \"format\": \"%s\"}"
            .formatted(start, end, format);
    Topology t = Tree.of(ONE, range(ONE, json));
    assertThat(String.join(",", Tree.names(t, 1))).isEqualTo(names);
  }

  @Test
  void n8TheDefaultFormatIsParentAndNumber() throws Exception {
    Topology t =
        Tree.of(ONE, range(ONE, "{\"parent_level\":\"instance\",\"start\":\"3\",\"end\":\"5\"}"));
    assertThat(Tree.lines(t))
        .containsExactly("instance/instance__3", "instance/instance__4", "instance/instance__5");
  }

  @Test
  void n9SourcesAreStackedOnEachOther() throws Exception {
    NodeSource hosts =
        range(
            TWO, "{\"parent_level\":\"instance\",\"start\":1,\"end\":2,\"format\":\"host__{i}\"}");
    NodeSource dbs =
        range(TWO, "{\"parent_level\":\"host\",\"start\":3,\"end\":4,\"enabled\":\"false\"}");
    Topology t = Tree.of(TWO, hosts, dbs);
    assertThat(t.size()).isEqualTo(7);
    assertThat(Tree.lines(t))
        .containsExactly(
            "instance/host__1",
            "instance/host__2",
            "host__1/host__1__3-",
            "host__1/host__1__4-",
            "host__2/host__2__3-",
            "host__2/host__2__4-");

    NodeSource none = range(TWO, "{\"parent_level\":\"instance\",\"start\":2,\"end\":1}");
    assertThat(Tree.of(TWO, none, dbs).size()).isEqualTo(1);
  }

  @Test
  void aFormatWithoutTheParentMakesReplicas() throws Exception {
    NodeSource hosts =
        range(TWO, "{\"parent_level\":\"instance\",\"start\":1,\"end\":2,\"format\":\"h{i}\"}");
    NodeSource dbs =
        range(TWO, "{\"parent_level\":\"host\",\"start\":1,\"end\":1,\"format\":\"d{i}\"}");
    Topology t = Tree.of(TWO, hosts, dbs);
    assertThat(Tree.lines(t)).containsExactly("instance/h1", "instance/h2", "h1/d1", "h2/d1");
    assertThat(t.size()).isEqualTo(4);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{what} | unknown placeholder {what}",
        "{} | unknown placeholder {}",
        "{parent}{I} | unknown placeholder {I}",
        "{i}{parent | the brace \"{\" at position 4 has no partner",
        "{i}} | the brace \"}\" at position 4 has no partner",
        "'' | the format is empty"
      })
  void aBadFormatIsExplained(String format, String message) {
    assertThat(
            problem(
                ONE,
                "{\"parent_level\":\"instance\",\"start\":1,\"end\":1,\"format\":\""
                    + format
                    + "\"}"))
        .isEqualTo(Tree.PATH + ".prefs.format: " + message);
  }

  @Test
  void aHugeRangeIsRefusedBeforeAnythingIsMade() {
    assertThat(problem(ONE, "{\"parent_level\":\"instance\",\"start\":1,\"end\":2000000000}"))
        .isEqualTo(
            Tree.PATH
                + ".prefs.end: the range from 1 to 2000000000 has more than the 10,000,000 nodes"
                + " allowed");
    assertThat(
            problem(
                ONE,
                "{\"parent_level\":\"instance\",\"start\":-9223372036854775808,\"end\":"
                    + "9223372036854775807}"))
        .contains("more than the 10,000,000 nodes");
    assertThat(problem(ONE, "{\"parent_level\":\"instance\",\"start\":1,\"end\":1e999999999}"))
        .contains("expected a whole number");
    assertThat(
            problem(
                ONE,
                "{\"parent_level\":\"instance\",\"start\":1,\"end\":\"99999999999999999999\"}"))
        .contains("expected a whole number");
  }

  @Test
  void aLongFetchHonoursInterruption() {
    NodeSource source = range(ONE, "{\"parent_level\":\"instance\",\"start\":1,\"end\":1000000}");
    Thread.currentThread().interrupt();
    assertThatThrownBy(() -> NodeRecorder.fetch(source, ONE, List.of(), NOW))
        .isInstanceOf(InterruptedException.class);
    assertThat(Thread.interrupted()).isFalse();
  }
}
