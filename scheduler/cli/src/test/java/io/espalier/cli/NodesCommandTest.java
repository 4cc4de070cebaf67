package io.espalier.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.json.Json;
import io.espalier.core.problem.Result;
import io.espalier.json.JsonReader;
import io.espalier.server.ExitCode;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

class NodesCommandTest {
  private final Path directory;
  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  NodesCommandTest(@TempDir Path directory) {
    this.directory = directory;
  }

  private int run(String... more) {
    List<String> args = new ArrayList<>(List.of(directory.resolve("c.json").toString()));
    args.addAll(List.of("--instance-node-name", "root"));
    args.addAll(List.of(more));
    CommandLine line = new CommandLine(new NodesCommand());
    line.setOut(new PrintWriter(out, true));
    line.setErr(new PrintWriter(err, true));
    return line.execute(args.toArray(String[]::new));
  }

  private void config(String nodes) throws IOException {
    Files.writeString(
        directory.resolve("c.json"),
        "{'bistro_settings': {'nodes': {%s}, 'resources': {}}}"
            .formatted(nodes)
            .replace('\'', '"'));
  }

  private static final String REPLICAS =
      "'levels': ['rack', 'host', 'db'], 'node_order': 'original', 'node_sources': ["
          + "{'source': 'manual', 'prefs': {"
          + "'r1': ['h1', 'h2'], 'r2': ['h2'], 'h2': {'children': ['d'], 'tags': ['b', 'a']},"
          + "'d': {'disabled': true, 'attributes': {'size': 7}}}}]";

  @Test
  void theTreeIsIndentedWithItsMarks() throws Exception {
    config(REPLICAS);
    assertThat(run()).isEqualTo(ExitCode.OK);
    assertThat(out.toString().lines())
        .containsExactly(
            "root",
            "  r1",
            "    h1",
            "    h2  (tags: a, b; one of 2 places)",
            "      d  (disabled; {\"size\":7})",
            "  r2",
            "    h2  (tags: a, b; replica, see above)");
    assertThat(err).hasToString("1 instance, 2 rack, 2 host, 1 db\n");
  }

  @Test
  void theJsonIsAnArrayInNodeOrder() throws Exception {
    config(REPLICAS);
    assertThat(run("--json")).isEqualTo(ExitCode.OK);
    assertThat(err.toString()).isEmpty();
    Result<Json> read = JsonReader.parse(out.toString());
    assertThat(read.problems()).isEmpty();
    assertThat(Objects.requireNonNull(read.value()).toString())
        .isEqualTo(
            ("[{'name':'root','level':'instance','parents':[],'enabled':true,'tags':[],'attributes':{}},"
                    + "{'name':'r1','level':'rack','parents':['root'],'enabled':true,'tags':[],'attributes':{}},"
                    + "{'name':'r2','level':'rack','parents':['root'],'enabled':true,'tags':[],'attributes':{}},"
                    + "{'name':'h1','level':'host','parents':['r1'],'enabled':true,'tags':[],'attributes':{}},"
                    + "{'name':'h2','level':'host','parents':['r1','r2'],'enabled':true,'tags':['a','b'],'attributes':{}},"
                    + "{'name':'d','level':'db','parents':['h2'],'enabled':false,'tags':[],'attributes':{'size':7}}]")
                .replace('\'', '"'));
  }

  @Test
  void anInstanceAloneIsAnArrayOfOne() throws Exception {
    config("'levels': ['host'], 'node_sources': [{'source': 'empty'}]");
    assertThat(run("--json", "--at", "1700000000")).isEqualTo(ExitCode.OK);
    assertThat(out.toString())
        .isEqualTo(
            "[\n{\"name\":\"root\",\"level\":\"instance\",\"parents\":[],\"enabled\":true,"
                + "\"tags\":[],\"attributes\":{}}\n]\n");
  }

  @Test
  void aScriptIsFoundBesideTheConfigurationAndItsFailureIsExitCodeOne() throws Exception {
    Path script = Files.writeString(directory.resolve("list"), "#!/bin/sh\necho \"$1-a\"\n");
    Files.setPosixFilePermissions(script, PosixFilePermissions.fromString("rwx------"));
    config(
        "'levels': ['host'], 'node_sources': [{'source': 'script', 'prefs':"
            + " {'parent_level': 'instance', 'script': 'list'}}]");
    assertThat(run()).isEqualTo(ExitCode.OK);
    assertThat(out.toString().lines()).containsExactly("root", "  root-a");

    Files.writeString(script, "#!/bin/sh\necho broken >&2\nexit 9\n");
    assertThat(run()).isEqualTo(ExitCode.FAILED);
    assertThat(err.toString())
        .contains("espalier: error bistro_settings.nodes.node_sources[0]: the script ")
        .contains("ended with exit code 9; the end of its standard error:\nbroken");
  }

  @Test
  void everyProblemOfTheConfigurationIsListedWithExitCodeTwo() throws Exception {
    config(
        "'levels': ['host'], 'node_sources': [{'source': 'manual', 'prefs': {'a': 7}},"
            + " {'source': 'range_label', 'prefs': {'parent_level': 'host'}}]");
    assertThat(run()).isEqualTo(ExitCode.USAGE);
    assertThat(out.toString()).isEmpty();
    assertThat(err.toString())
        .contains("node_sources[0].prefs.a: expected a list of children")
        .contains("node_sources[1].prefs.parent_level: no configured level is below \"host\"")
        .contains("node_sources[1].prefs.start: \"start\" is missing");

    config("'levels': ['host'], 'node_sources': [{'source': 'manaul'}]");
    assertThat(run()).isEqualTo(ExitCode.USAGE);
    assertThat(err.toString()).contains("(value: \"manaul\"); did you mean \"manual\"?");

    config("'levels': 7");
    assertThat(run()).isEqualTo(ExitCode.USAGE);
    Files.writeString(directory.resolve("c.json"), "{");
    assertThat(run()).isEqualTo(ExitCode.USAGE);
    Files.delete(directory.resolve("c.json"));
    assertThat(run()).isEqualTo(ExitCode.USAGE);
  }

  @Test
  void aHundredThousandNodesArePrinted() throws Exception {
    config(
        "'levels': ['host'], 'node_sources': [{'source': 'range_label', 'prefs':"
            + " {'parent_level': 'instance', 'start': 1, 'end': 100000, 'format': 'h{i}'}}]");
    assertThat(run()).isEqualTo(ExitCode.OK);
    assertThat(out.toString().lines()).hasSize(100_001);
  }

  private Map<String, Integer> hostsByShard(int count) {
    Map<String, Integer> owners = new HashMap<>();
    for (int i = 0; i < count; i++) {
      out.getBuffer().setLength(0);
      assertThat(run("--json", "--shard", i + "/" + count)).isEqualTo(ExitCode.OK);
      Json nodes = Objects.requireNonNull(JsonReader.parse(out.toString()).value());
      for (Json node : ((Json.Arr) nodes).items()) {
        if (node.toString().contains("\"level\":\"host\"")) {
          String name = ((Json.Str) Objects.requireNonNull(((Json.Obj) node).get("name"))).value();
          assertThat(owners.put(name, i)).isNull();
        }
      }
    }
    return owners;
  }

  @Test
  void aFourthSchedulerTakesItsShareAndNoOtherHostMoves() throws Exception {
    String hosts =
        IntStream.range(0, 24)
            .mapToObj(i -> "'host" + i + "': []")
            .collect(Collectors.joining(", "));
    config("'levels': ['host'], 'node_sources': [{'source': 'manual', 'prefs': {" + hosts + "}}]");
    Map<String, Integer> three = hostsByShard(3);
    Map<String, Integer> four = hostsByShard(4);
    assertThat(three).hasSize(24);
    assertThat(four.keySet()).isEqualTo(three.keySet());
    four.entrySet().removeIf(host -> host.getValue().equals(three.get(host.getKey())));
    assertThat(four.values()).containsOnly(3);
    // Computed by another program.
    assertThat(four.keySet())
        .containsExactlyInAnyOrder("host0", "host16", "host17", "host20", "host21", "host22");
  }

  @Test
  void pathsThatAShardCannotHaveAreSaid() throws Exception {
    // host1 is of the second, host2 of the first of two; d goes with the smaller name.
    config(
        "'levels': ['host', 'db'], 'node_sources': ["
            + "{'source': 'manual', 'prefs': {'host1': ['d'], 'host2': ['d', 'e']}}]");
    assertThat(run("--shard", "0/2")).isEqualTo(ExitCode.OK);
    assertThat(out.toString().lines()).containsExactly("root", "  host2", "    e");
    assertThat(err.toString())
        .contains("1 path is closed")
        .contains("\"d\" under \"host2\" (it is of shard 1)");
  }
}
