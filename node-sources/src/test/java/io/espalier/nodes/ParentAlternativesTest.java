package io.espalier.nodes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.espalier.core.config.Levels;
import io.espalier.core.topology.NodeSource;
import io.espalier.core.topology.NodeSourceException;
import io.espalier.core.topology.NodeSourceType;
import io.espalier.core.topology.Topology;
import io.espalier.nodes.script.ScriptNodes;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Nodes with several places, each with a role. */
class ParentAlternativesTest {
  private static final Levels LEVELS = Levels.of(List.of("host", "shard"));

  private final Path directory;

  ParentAlternativesTest(@TempDir Path directory) {
    this.directory = directory;
  }

  /** The places of shards as {@code parent/child=role[tags]}, a minus before those disabled. */
  private static List<String> places(Topology t) {
    List<String> places = new ArrayList<>();
    for (int slot = 1; slot < t.slots(); slot++) {
      if (t.parent(slot) > 0) {
        places.add(
            (t.enabled(slot) ? "" : "-")
                + t.name(t.parent(slot))
                + "/"
                + t.name(t.node(slot))
                + "="
                + t.role(slot)
                + t.tags(slot));
      }
    }
    return places;
  }

  private static NodeSource hosts() {
    return Tree.source(new ManualNodes.Type(), LEVELS, "{\"a\": [], \"b\": [], \"c\": []}");
  }

  private Topology tree(NodeSourceType type, String prefs) throws Exception {
    NodeSource below =
        Objects.requireNonNull(Tree.create(type, LEVELS, prefs, directory.toString()).value());
    return Tree.of(LEVELS, hosts(), below);
  }

  private void file(String name, String text) throws IOException {
    Files.writeString(directory.resolve(name), text);
  }

  @Test
  void a_manual_node_names_its_parents_and_need_not_be_listed_there() throws Exception {
    NodeSource source =
        Tree.source(
            new ManualNodes.Type(),
            LEVELS,
            """
            {"a": ["s0", "s1"], "b": [],
             "s1": {"tags": ["t"], "alternatives": [
               {"parent": "a", "role": "primary"},
               {"parent": "b", "role": "replica", "tags": ["far"]},
               {"parent": "c", "enabled": false}]}}
            """);
    Topology t = Tree.of(LEVELS, source);
    assertThat(Tree.names(t, 1)).containsExactly("a", "b", "c");
    assertThat(places(t))
        .containsExactly("a/s0=[]", "a/s1=primary[t]", "b/s1=replica[far, t]", "-c/s1=[t]");
    assertThat(t.slotCount(t.find(2, "s1"))).isEqualTo(3);
    assertThat(t.hasRoles()).isTrue();
  }

  @Test
  void a_manual_node_cannot_be_below_itself_by_its_alternatives() {
    assertThat(
            Tree.problems(
                Tree.create(
                    new ManualNodes.Type(),
                    LEVELS,
                    """
                    {"a": ["s"], "s": {"children": [], "alternatives": [{"parent": "s"}]}}
                    """)))
        .singleElement()
        .asString()
        .contains("below themselves: s -> s");
    assertThat(
            Tree.problems(
                Tree.create(
                    new ManualNodes.Type(), LEVELS, "{\"s\": {\"alternatives\": [\"a\"]}}")))
        .containsExactly(
            "nodes.node_sources[0].prefs.s.alternatives: this node has an alternative that is a"
                + " string, expected an object");
  }

  @Test
  void rows_of_json_and_csv_and_lines_of_scripts_know_places() throws Exception {
    file(
        "shards.json",
        """
        [{"name": "s1", "disabled": false, "alternatives": [
           {"parent": "a", "role": "primary"}, {"parent": "b", "role": "replica"}]},
         {"name": "s2", "parent": "c", "role": "witness"}, {"name": "s3", "parent": "c"}]
        """);
    assertThat(
            places(
                tree(
                    new FileNodes.Type(),
                    "{\"parent_level\": \"host\", \"path\": \"shards.json\"}")))
        .containsExactly("a/s1=primary[]", "b/s1=replica[]", "c/s2=witness[]", "c/s3=[]");

    file(
        "shards.csv",
        """
        name,parent,role,alternatives
        s1,a,primary,
        s1,b,replica,
        s2,,,"[{""parent"": ""c"", ""role"": ""primary""}]"
        """);
    assertThat(
            places(
                tree(
                    new FileNodes.Type(),
                    "{\"parent_level\": \"host\", \"path\": \"shards.csv\"}")))
        .containsExactly("a/s1=primary[]", "b/s1=replica[]", "c/s2=primary[]");

    file(
        "list.sh",
        """
        #!/bin/sh
        [ "$1" = a ] && echo '{"name": "s1", "alternatives": [{"parent": "a", "role": "x"}, {"parent": "b"}]}'
        [ "$1" = c ] && echo '{"name": "s2", "role": "y"}'
        exit 0
        """);
    Files.setPosixFilePermissions(
        directory.resolve("list.sh"), PosixFilePermissions.fromString("rwxr-xr-x"));
    assertThat(
            places(
                tree(
                    new ScriptNodes.Type(),
                    "{\"parent_level\": \"host\", \"script\": \"list.sh\"}")))
        .containsExactly("a/s1=x[]", "b/s1=[]", "c/s2=y[]");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '\0',
      value = {
        "'alternatives': []                         | are empty",
        "'alternatives': {}                         | are an object",
        "'alternatives': [{}]                       | without the name of a \"parent\"",
        "'alternatives': [{'parent': 7}]            | without the name of a \"parent\"",
        "'alternatives': [{'parent': 'a', 'rule': 'x'}] | unknown key \"rule\"",
        "'alternatives': [{'parent': 'a', 'enabled': 1}] | neither true nor false",
        "'alternatives': [{'parent': 'a', 'tags': 't'}] | no list of different strings",
        "'alternatives': [{'parent': 'a', 'role': 'a b'}] | a role that must have",
        "'alternatives': [{'parent': 'a', 'role': 5}] | a \"role\" that is a number",
        "'alternatives': [{'parent': 'a'}, {'parent': 'a'}] | two alternatives under \"a\"",
        "'alternatives': [{'parent': 'a'}], 'parent': 'b' | beside them, a parent or a role",
        "'parent': 'a', 'role': '-x'                | a role that must have",
      })
  void what_is_no_place_is_said(String more, String message) throws Exception {
    file("x.json", "[{\"name\": \"s\", " + more.replace('\'', '"') + "}]");
    assertThatThrownBy(
            () -> tree(new FileNodes.Type(), "{\"parent_level\": \"host\", \"path\": \"x.json\"}"))
        .isInstanceOfSatisfying(
            NodeSourceException.class,
            e ->
                assertThat(Tree.messages(e.problems()))
                    .singleElement()
                    .asString()
                    .contains(message));
  }
}
