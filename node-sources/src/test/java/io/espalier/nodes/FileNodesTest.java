package io.espalier.nodes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.espalier.core.config.Levels;
import io.espalier.core.json.Json;
import io.espalier.core.problem.Problem;
import io.espalier.core.topology.NodeSource;
import io.espalier.core.topology.NodeSourceException;
import io.espalier.core.topology.NodeSourceType;
import io.espalier.core.topology.NodeSpec;
import io.espalier.testkit.nodes.NodeRecorder;
import io.espalier.testkit.nodes.NodeSourceContract;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class FileNodesTest extends NodeSourceContract {
  private static final Levels TWO = Levels.of(List.of("host", "db"));
  private static final Levels ONE = Levels.of(List.of("host"));

  private final Path directory;

  FileNodesTest(@TempDir Path directory) {
    this.directory = directory;
  }

  @Override
  protected NodeSourceType type() {
    return new FileNodes.Type();
  }

  @Override
  protected String configDirectory() {
    return directory.toString();
  }

  private void file(String name, String content) {
    try {
      Files.writeString(directory.resolve(name), content);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  protected Example example() {
    file(
        "dbs.json",
        "{\"data\": {\"dbs\": [{\"db\": \"d1\", \"host\": \"b\", \"gb\": 7, \"note\": null},"
            + " {\"db\": 17, \"host\": \"a\", \"off\": true, \"labels\": [\"ssd\"], \"x\": 1}]}}");
    Json.Obj prefs =
        Tree.prefs(
            "{\"parent_level\": \"host\", \"path\": \"dbs.json\", \"items\": \"data.dbs\","
                + " \"format\": \"json\", \"max_bytes\": 1000, \"refresh_sec\": 1.5,"
                + " \"timeout_sec\": 20, \"separator\": \",\", \"columns\": {\"name\": \"db\","
                + " \"parent\": \"host\", \"tags\": \"labels\", \"disabled\": \"off\","
                + " \"attributes\": [\"gb\", \"note\"]}}");
    return new Example(
        TWO,
        prefs,
        List.of(NodeSpec.child(1, "a", null), NodeSpec.child(1, "b", null)),
        List.of(
            new NodeSpec(2, "d1", "b", 1, true, Set.of(), Json.object().put("gb", 7).build()),
            new NodeSpec(2, "17", "a", 1, false, Set.of("ssd"), Json.Obj.EMPTY)));
  }

  @Override
  protected Map<Json.Obj, List<String>> badPrefs() {
    return Map.of(
        Json.Obj.EMPTY,
        List.of("parent_level", "path"),
        Tree.prefs(
            "{\"parent_level\": \"rack\", \"path\": \"{child}.csv\", \"format\": \"xml\","
                + " \"separator\": \"--\", \"columns\": [], \"max_bytes\": 0, \"refresh_sec\": 0,"
                + " \"timeout_sec\": \"long\", \"items\": 3}"),
        List.of(
            "parent_level",
            "path",
            "format",
            "separator",
            "columns",
            "max_bytes",
            "refresh_sec",
            "timeout_sec",
            "items"),
        Tree.prefs(
            "{\"parent_level\": \"host\", \"path\": \"a\\u0000b\", \"columns\": {\"nam\": \"x\","
                + " \"tags\": 3}}"),
        List.of("path", "columns.nam", "columns.tags"));
  }

  @Override
  protected List<Json.Obj> failingPrefs() {
    file("half.json", "[{\"name\": \"x\", \"parent\": \"a\"}, {\"name\": ");
    return List.of(
        Tree.prefs("{\"parent_level\": \"host\", \"path\": \"nowhere.json\"}"),
        Tree.prefs("{\"parent_level\": \"host\", \"path\": \"half.json\"}"),
        Tree.prefs("{\"parent_level\": \"host\", \"path\": \"/\"}"));
  }

  private NodeSource source(Levels levels, String prefs) {
    return source(levels, Tree.prefs(prefs.replace('\'', '"')));
  }

  private List<NodeSpec> hosts(String file, String more) throws Exception {
    String level = "'parent_level': 'instance', ";
    return NodeRecorder.fetch(
        source(ONE, "{" + level + "'path': '" + file + "'" + more + "}"), ONE, List.of(), NOW);
  }

  private List<String> problems(String file, String more) {
    List<String> problems = new ArrayList<>();
    assertThatThrownBy(() -> hosts(file, more))
        .isInstanceOfSatisfying(
            NodeSourceException.class,
            e -> e.problems().stream().map(Problem::message).forEach(problems::add));
    return problems.stream().map(p -> p.replace(directory + "/", "")).toList();
  }

  @Test
  void aLineIsANameOrAnObject() throws Exception {
    file("hosts.txt", "h1\n{\"name\": \"h 2\", \"tags\": [\"x\"], \"disabled\": true}\r\nh,3");
    assertThat(hosts("hosts.txt", ""))
        .containsExactly(
            NodeSpec.child(1, "h1", null),
            new NodeSpec(1, "h 2", null, 0, false, Set.of("x"), Json.Obj.EMPTY),
            NodeSpec.child(1, "h,3", null));
  }

  @Test
  void csvHasAHeaderQuotesAndEmptyCells() throws Exception {
    file(
        "hosts.csv",
        "name;tags;disabled;attributes\r\nh1;a b;;\n\"h;\"\"2\"\"\";\"c,d\";TRUE;\"{\"\"gb\"\":"
            + " 5}\"\n");
    assertThat(hosts("hosts.csv", ", 'separator': ';'"))
        .containsExactly(
            new NodeSpec(1, "h1", null, 0, true, Set.of("a", "b"), Json.Obj.EMPTY),
            new NodeSpec(
                1,
                "h;\"2\"",
                null,
                0,
                false,
                Set.of("c", "d"),
                Json.object().put("gb", 5).build()));
    assertThat(hosts("hosts.csv", ", 'separator': ';', 'columns': {'attributes': '*'}").get(1))
        .extracting(NodeSpec::attributes)
        .isEqualTo(Json.object().put("attributes", "{\"gb\": 5}").build());
  }

  @Test
  void aFileForEachParentIsFoundByItsName() throws Exception {
    file("a.txt", "a1\na2\n");
    file("b c.txt", "b1\n");
    NodeSource source = source(TWO, "{'parent_level': 'host', 'path': '{parent}.txt'}");
    List<NodeSpec> hosts = List.of(NodeSpec.child(1, "a", null), NodeSpec.child(1, "b c", null));
    assertThat(NodeRecorder.fetch(source, TWO, hosts, NOW))
        .containsExactly(
            NodeSpec.child(2, "a1", "a"),
            NodeSpec.child(2, "a2", "a"),
            NodeSpec.child(2, "b1", "b c"));
    NodeSource own = source(TWO, "{'parent_level': 'host', 'path': 'DIR/{parent}'}");
    for (String hostile : List.of("../../etc/passwd", "..", "/etc/passwd")) {
      assertThatThrownBy(
              () -> NodeRecorder.fetch(own, TWO, List.of(NodeSpec.child(1, hostile, null)), NOW))
          .isInstanceOf(NodeSourceException.class)
          .hasMessage("the node \"" + hostile + "\" has no file: its name cannot be a file's");
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '~',
      value = {
        "x.json | {} | x.json holds an object where a list of nodes was expected; the preference"
            + " \"items\" says where it is",
        "x.json | [1, {}, [], null] | item 1 at 1:2 of x.json is a number, expected a name or an"
            + " object # item 2 at 1:5 of x.json has no \"name\" # item 3 at 1:9 of x.json is a"
            + " list, expected a name or an object # item 4 at 1:13 of x.json is null, expected a"
            + " name or an object",
        "x.json | [{\"name\": \"a\", \"tag\": []}] | item 1 at 1:2 of x.json has the unknown key"
            + " \"tag\": did you mean \"tags\"?",
        "x.json | [{\"name\": \"a\", \"parent\": \"b\"}] | item 1 at 1:2 of x.json names a parent,"
            + " but nodes of this source lie under the instance",
        "x.json | [\"a\\u0000b\"] | item 1 at 1:2 of x.json is not a node: its name contains a"
            + " control character or line break (U+0000)",
        "x.json | [{\"name\": \"a\", \"disabled\": \"maybe\"}] | item 1 at 1:2 of x.json has"
            + " \"disabled\" that is neither true nor false: \"maybe\"",
        "x.json | [{\"name\": 1.5}] | item 1 at 1:2 of x.json has a \"name\" that is a number,"
            + " expected a string",
        "x.csv | name,name\\na,b | x.csv has two columns \"name\"",
        "x.csv | name,tags\\na\\nb,c,d | line 2 of x.csv has 1 cells, the first line has 2 # line 3"
            + " of x.csv has 3 cells, the first line has 2",
        "x.csv | name\\n\\nb | line 2 of x.csv is not a node: its name is empty",
        "x.csv | name\\n\"a | line 2 of x.csv opens a quote that is never closed",
        "x.csv | name\\n\"a\"b | line 2 of x.csv has text behind a closing quote",
        "x.csv | ~~ | x.csv is empty, expected a line with the names of the columns",
        "x.csv | name,attributes\\na,{ | line 2 of x.csv has \"attributes\" that are not a JSON"
            + " object: the text ends before the object does",
        "x.txt | a\\n\\nb | line 2 of x.txt is not a node: its name is empty",
        "x.txt | {oops | line 1 of x.txt begins with { and is not a JSON object: W"
      })
  void unusableContentIsNamedRowByRow(String name, String content, String expected) {
    file(name, content.replace("\\n", "\n"));
    List<String> problems = problems(name, "");
    if (expected.contains(": W") || expected.endsWith("does")) {
      assertThat(problems).singleElement().asString().startsWith(expected.substring(0, 40));
    } else {
      assertThat(problems).containsExactly(expected.split(" # ", -1));
    }
  }

  @Test
  void aRowBelowAnotherLevelNamesItsParent() {
    file("dbs.csv", "name,parent\nd1,a\nd2,\n");
    assertThat(ofHosts("'path': 'dbs.csv'"))
        .isEqualTo(
            "line 3 of dbs.csv names no parent; give each row its \"parent\", or have a file for each"
                + " parent, with {parent} in \"path\"");
  }

  @Test
  void allRowsWithoutAParentAreOneProblem() {
    file("dbs.txt", "d\n".repeat(2_345));
    assertThat(ofHosts("'path': 'dbs.txt', 'columns': {'parent': 'host'}"))
        .startsWith(
            "line 1 of dbs.txt names no parent, nor do 2344 more rows; give each row its \"host\"");
  }

  @Test
  void whatIsWrongWithManyRowsIsOneProblem() {
    file("dbs.csv", "shard,host\n" + "s1,a\n".repeat(40));
    assertThat(problems("dbs.csv", ""))
        .containsExactly(
            "line 2 of dbs.csv has the unknown key \"shard\": say in the preference \"columns\" what"
                + " is what, such as {\"name\": \"shard\"}; what is free for you to choose goes into"
                + " \"attributes\" (and 39 more rows)");
    assertThat(problems("dbs.csv", ", 'columns': {'name': 'hsot'}"))
        .containsExactly(
            "line 2 of dbs.csv has no \"hsot\"; there are \"shard\", \"host\" (and 39 more rows)");
    file("cells.csv", "name\n" + "a,b\n".repeat(100_000));
    assertThat(problems("cells.csv", ""))
        .containsExactly(
            "line 2 of cells.csv has 2 cells, the first line has 1 (and 99999 more rows)");
    file("two.csv", "name\na,b\nc,d\n");
    assertThat(problems("two.csv", ""))
        .containsExactly("line 2 of two.csv has 2 cells, the first line has 1 (and 1 more row)");
  }

  @Test
  void equalRowsCountOnceWhereThatIsWanted() throws Exception {
    file("shards.csv", "shard,host,rack\ns1,a,1\ns2,a,1\ns3,b,2\ns4,a,1\n");
    String host = ", 'columns': {'name': 'host'";
    assertThat(hosts("shards.csv", host + "}")).extracting(NodeSpec::name).hasSize(4);
    assertThat(hosts("shards.csv", host + "}, 'distinct': true"))
        .containsExactly(NodeSpec.child(1, "a", null), NodeSpec.child(1, "b", null));
    // Rows that say different things about a node stay a problem of the tree.
    assertThat(hosts("shards.csv", host + ", 'attributes': ['shard']}, 'distinct': true"))
        .hasSize(4);
    file("names.txt", "a\na\n");
    assertThat(hosts("names.txt", ", 'distinct': true"))
        .containsExactly(NodeSpec.child(1, "a", null));
  }

  /** The only problem of a source of nodes under hosts, with its hint. */
  private String ofHosts(String prefs) {
    NodeSource source = source(TWO, "{'parent_level': 'host', " + prefs + "}");
    List<Problem> problems = new ArrayList<>();
    assertThatThrownBy(
            () -> NodeRecorder.fetch(source, TWO, List.of(NodeSpec.child(1, "a", null)), NOW))
        .isInstanceOfSatisfying(NodeSourceException.class, e -> problems.addAll(e.problems()));
    assertThat(problems).hasSize(1);
    Problem problem = problems.get(0);
    return problem.message().replace(directory + "/", "") + "; " + problem.hint();
  }

  @Test
  void hugeNamesAndHugeFilesAreRefused() {
    file("x.txt", "x".repeat(1025));
    assertThat(problems("x.txt", ""))
        .containsExactly("line 1 of x.txt is not a node: its name is longer than 1024 bytes");
    assertThat(problems("x.txt", ", 'max_bytes': 1000"))
        .containsExactly("x.txt is longer than the 1000 bytes allowed by max_bytes");
  }

  @ParameterizedTest
  @ValueSource(strings = {"x.txt", "x.csv", "x.json"})
  void textThatIsNotUtf8IsRefused(String name) throws Exception {
    Files.write(directory.resolve(name), "name\nh\u00e4\n".getBytes(StandardCharsets.ISO_8859_1));
    assertThat(problems(name, "")).singleElement().asString().contains("not UTF-8");
    file(name, "\ufeffname");
    assertThat(problems(name, "")).singleElement().asString().contains("byte order mark");
  }

  @Test
  void whatIsNoFileIsSaid() throws Exception {
    assertThat(problems("gone.txt", "")).containsExactly("there is no file gone.txt");
    Files.createDirectory(directory.resolve("dir"));
    assertThat(problems("dir", "")).containsExactly("dir cannot be read: it is not a file");
  }
}
