package io.espalier.nodes.script;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

import io.espalier.core.config.Levels;
import io.espalier.core.json.Json;
import io.espalier.core.problem.Problem;
import io.espalier.core.problem.Result;
import io.espalier.core.topology.NodeSource;
import io.espalier.core.topology.NodeSourceException;
import io.espalier.core.topology.NodeSourceType;
import io.espalier.core.topology.NodeSpec;
import io.espalier.core.topology.PushDown;
import io.espalier.core.topology.Topology;
import io.espalier.core.topology.TopologyBuilder;
import io.espalier.nodes.ManualNodes;
import io.espalier.nodes.Tree;
import io.espalier.testkit.nodes.NodeRecorder;
import io.espalier.testkit.nodes.NodeSourceContract;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * N10 and N18 of docs/design/bistro.md#conformance-of-node-sources, and P19 of
 * docs/design/bistro.md#conformance-of-tasks.
 */
@Timeout(60)
class ScriptNodesTest extends NodeSourceContract {
  private static final Levels ONE = Levels.of(List.of("host"));
  private static final Levels TWO = Levels.of(List.of("host", "db"));

  private final Path directory;

  ScriptNodesTest(@TempDir Path directory) {
    this.directory = directory;
  }

  private Path script(String name, String body) throws IOException {
    Path file = directory.resolve(name);
    Files.writeString(file, "#!/bin/sh\n" + body + "\n");
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwx------"));
    return file;
  }

  @Override
  protected NodeSourceType type() {
    return new ScriptNodes.Type();
  }

  @Override
  protected String configDirectory() {
    return directory.toString();
  }

  @Override
  protected Example example() throws Exception {
    script(
        "list",
        """
        echo "$2-$1"
        echo '{"name": "second of '"$2"'", "tags": ["x", "y"], "disabled": true,
        "attributes": {"n": 1}}' | tr -d '\\n'
        """);
    Json.Obj attributes = Json.object().put("n", 1).build();
    return new Example(
        TWO,
        Tree.prefs(
            "{\"parent_level\": \"host\", \"script\": \"list\", \"args\": [\"a b\"],"
                + " \"timeout_sec\": 50, \"parallelism\": 2}"),
        List.of(NodeSpec.child(1, "h1", null), NodeSpec.child(1, "h2", null)),
        List.of(
            NodeSpec.child(2, "h1-a b", "h1"),
            new NodeSpec(2, "second of h1", "h1", 1, false, Set.of("x", "y"), attributes),
            NodeSpec.child(2, "h2-a b", "h2"),
            new NodeSpec(2, "second of h2", "h2", 1, false, Set.of("x", "y"), attributes)));
  }

  @Override
  protected Map<Json.Obj, List<String>> badPrefs() {
    return Map.of(
        Json.Obj.EMPTY,
        List.of("parent_level", "script"),
        Tree.prefs(
            "{\"parent_level\": \"hots\", \"script\": 1, \"args\": [1, \"x\", null],"
                + " \"timeout_sec\": 0, \"parallelism\": 257}"),
        List.of("parent_level", "script", "args[0]", "args[2]", "timeout_sec", "parallelism"),
        Tree.prefs(
            "{\"parent_level\": \"host\", \"script\": \"\", \"args\": \"x\", \"timeout_sec\":"
                + " \"1\", \"parallelism\": 0.5}"),
        List.of("script", "args", "timeout_sec", "parallelism"),
        Tree.prefs("{\"parent_level\": \"db\", \"script\": \"a\\u0000\", \"args\": [\"\\u0000\"]}"),
        List.of("parent_level", "script", "args[0]"),
        Tree.prefs(
            "{\"parent_level\": \"host\", \"script\": \"s\", \"args\": [\"--of={parents}\"],"
                + " \"push_down\": true}"),
        List.of("args", "push_down"),
        Tree.prefs(
            "{\"parent_level\": \"host\", \"script\": \"s\", \"args\": [\"{parents}\","
                + " \"{parent}\"]}"),
        List.of("args"));
  }

  @Override
  protected List<Json.Obj> failingPrefs() throws Exception {
    script("half", "echo one; [ \"$1\" = h1 ] || exit 3");
    return List.of(
        Tree.prefs("{\"parent_level\": \"host\", \"script\": \"absent\"}"),
        Tree.prefs("{\"parent_level\": \"host\", \"script\": \"half\"}"));
  }

  private NodeSource source(Levels levels, Path script, String more) {
    String level = levels.bottom() == 1 ? "instance" : "host";
    return Tree.source(
        new ScriptNodes.Type(),
        levels,
        "{\"parent_level\": \"" + level + "\", \"script\": \"" + script + "\"" + more + "}");
  }

  private List<Problem> failure(Path script, String more) {
    return failure(source(ONE, script, more), List.of(), ONE);
  }

  private static List<Problem> failure(NodeSource source, List<NodeSpec> earlier, Levels levels) {
    NodeSourceException e =
        catchThrowableOfType(
            NodeSourceException.class,
            () -> NodeRecorder.fetch(source, levels, earlier, Instant.EPOCH));
    return Objects.requireNonNull(e, "the fetch succeeded").problems();
  }

  private static String only(List<Problem> problems) {
    assertThat(problems).hasSize(1);
    return problems.get(0).message();
  }

  @Test
  void n10PreferencesAreNeeded() {
    assertThat(Tree.create(new ScriptNodes.Type(), ONE, "{}").value()).isNull();
  }

  @Test
  void n10TwoLinesAreTwoChildrenInTheirOrder() throws Exception {
    Topology t = Tree.of(ONE, source(ONE, script("s", "echo zeta; printf alpha"), ""));
    assertThat(Tree.lines(t)).containsExactly("instance/zeta", "instance/alpha");
  }

  @Test
  void n10TheScriptRunsOncePerParentWithItsNameAsTheOnlyArgument() throws Exception {
    Path script =
        script("s", "[ $# = 1 ] && echo \"db-of-$1\" && echo run >> " + directory + "/log");
    NodeSource hosts = Tree.source(new ManualNodes.Type(), TWO, "{\"host1\": [], \"host2\": []}");
    Topology t = Tree.of(TWO, hosts, source(TWO, script, ""));
    assertThat(t.size()).isEqualTo(5);
    assertThat(Tree.lines(t))
        .containsExactly(
            "instance/host1", "instance/host2", "host1/db-of-host1", "host2/db-of-host2");
    assertThat(Files.readAllLines(directory.resolve("log"))).hasSize(2);
  }

  @Test
  void anArgumentSaysWhereTheParentGoes() throws Exception {
    Path script = script("s", "echo \"$#-$1-$2\"");
    NodeSource source = source(TWO, script, ", \"args\": [\"--of={parent}\", \"end\"]");
    assertThat(
            NodeRecorder.fetch(source, TWO, List.of(NodeSpec.child(1, "h1", null)), Instant.EPOCH))
        .containsExactly(NodeSpec.child(2, "2---of=h1-end", "h1"));
  }

  @Test
  void oneRunForManyParentsNamesTheParentOfEachChild() throws Exception {
    Path script =
        script(
            "s",
            """
            shift
            for h; do echo '{"name": "of-'$h'-'$#'", "parent": "'$h'"}'; done
            """);
    NodeSource source =
        source(TWO, script, ", \"args\": [\"list\", \"{parents}\"], \"push_down\": \"one_parent\"");
    assertThat(source.pushDown()).isEqualTo(PushDown.ONE_PARENT);
    List<NodeSpec> hosts = new ArrayList<>();
    List<NodeSpec> children = new ArrayList<>();
    for (int i = 0; i <= ScriptNodes.PARENTS_PER_RUN; i++) {
      hosts.add(NodeSpec.child(1, "h" + i, null));
      int together = i < ScriptNodes.PARENTS_PER_RUN ? ScriptNodes.PARENTS_PER_RUN : 1;
      children.add(NodeSpec.child(2, "of-h" + i + "-" + together, "h" + i));
    }
    assertThat(NodeRecorder.fetch(source, TWO, hosts, Instant.EPOCH)).isEqualTo(children);
    NodeSource silent = source(TWO, script("t", "echo x"), ", \"args\": [\"{parents}\"]");
    assertThat(only(failure(silent, hosts.subList(0, 2), TWO)))
        .contains("for \"h0\" and 1 others names no \"parent\"");
    NodeSource wrong = source(TWO, script("u", "echo '{\"name\": \"x\", \"parent\": \"h9\"}'"), "");
    assertThat(only(failure(wrong, hosts.subList(0, 1), TWO)))
        .contains("names another \"parent\", \"h9\"");
  }

  @Test
  void aParentsNameIsOnlyEverAnArgument() throws Exception {
    Path script = script("s", "[ $# = 1 ] && printf '<%s>\\n' \"$1\"");
    List<String> names =
        List.of(
            "-rf", "--", "$(touch x)", "`id`", "a; exit 1", "'\"", "a b  c", "*", "/etc/passwd");
    List<NodeSpec> earlier = names.stream().map(n -> NodeSpec.child(1, n, null)).toList();
    List<NodeSpec> nodes = NodeRecorder.fetch(source(TWO, script, ""), TWO, earlier, Instant.EPOCH);
    assertThat(nodes.stream().map(NodeSpec::name))
        .containsExactlyElementsOf(names.stream().map(n -> "<" + n + ">").toList());
  }

  @Test
  void n18AnExitCodeOtherThanZeroFailsTheFetchWithTheEndOfStandardError() throws Exception {
    Path script =
        script(
            "s",
            "echo one; i=0; while [ $i -lt 500 ]; do echo \"line $i of wail\" >&2;"
                + " i=$((i+1)); done; exit 3");
    String message = only(failure(script, ""));
    assertThat(message)
        .startsWith(
            "the script "
                + script
                + " for \"instance-node\" ended with exit code 3; the end of its standard error:\n"
                + "line 490 of wail\n")
        .endsWith("line 499 of wail");
    assertThat(message.lines()).hasSize(11);
  }

  @Test
  void aScriptKilledByASignalFailsTheFetch() throws Exception {
    assertThat(only(failure(script("s", "echo one; kill -9 $$"), "")))
        .endsWith(
            "ended with exit code 137 (as after signal 9); it wrote nothing to standard error");
  }

  @Test
  void n18AScriptThatHangsIsKilledWithItsWholeGroup() throws Exception {
    Path script =
        script(
            "s",
            "echo one; echo looking >&2; sh -c 'echo $$ > "
                + directory
                + "/child; exec sleep 1000' & echo $$ > "
                + directory
                + "/leader; wait");
    assertThat(only(failure(script, ", \"timeout_sec\": 1.5")))
        .endsWith(
            "did not end within 1.5 s and was killed; the end of its standard error:\nlooking");
    assertGone("leader");
    assertGone("child");
  }

  @Test
  void interruptionKillsTheScriptsAndTheirChildren() throws Exception {
    Path script =
        script(
            "s",
            "sh -c 'echo $$ > "
                + directory
                + "/child.tmp; mv "
                + directory
                + "/child.tmp "
                + directory
                + "/child; exec sleep 1000' & wait");
    NodeSource source = source(ONE, script, "");
    AtomicReference<Throwable> thrown = new AtomicReference<>();
    Thread thread =
        new Thread(
            () -> {
              try {
                NodeRecorder.fetch(source, ONE, List.of(), Instant.EPOCH);
              } catch (Throwable e) {
                thrown.set(e);
              }
            });
    thread.start();
    await().until(() -> Files.exists(directory.resolve("child")));
    thread.interrupt();
    thread.join();
    assertThat(thrown.get()).isInstanceOf(InterruptedException.class);
    assertGone("child");
  }

  /** A program of its own that fetches: {@code SCRIPT} is the only argument. */
  static final class Fetching {
    public static void main(String[] args) throws Exception {
      NodeSource source =
          Tree.source(
              new ScriptNodes.Type(),
              ONE,
              "{\"parent_level\": \"instance\", \"script\": \"" + args[0] + "\"}");
      NodeRecorder.fetch(source, ONE, List.of(), Instant.EPOCH);
    }
  }

  @Test
  void theEndOfThisProgramKillsTheScriptsAndTheirChildren() throws Exception {
    Path script =
        script(
            "s",
            "sh -c 'echo $$ > %1$s/c; mv %1$s/c %1$s/child; exec sleep 1000' & wait"
                .formatted(directory));
    Path java = Path.of(System.getProperty("java.home"), "bin", "java");
    Process program =
        new ProcessBuilder(
                java.toString(),
                "-cp",
                System.getProperty("java.class.path"),
                Fetching.class.getName(),
                script.toString())
            .inheritIO()
            .start();
    await().atMost(Duration.ofSeconds(40)).until(() -> Files.exists(directory.resolve("child")));
    program.destroy();
    assertThat(program.waitFor()).as("as after SIGTERM").isEqualTo(143);
    assertGone("child");
  }

  /** Waits for the kernel: a killed orphan is reaped by somebody else. */
  private void assertGone(String file) throws IOException {
    long pid = Long.parseLong(Files.readString(directory.resolve(file)).trim());
    await().until(() -> ProcessHandle.of(pid).filter(ScriptNodesTest::runs).isEmpty());
  }

  private static boolean runs(ProcessHandle process) {
    try {
      String stat = Files.readString(Path.of("/proc/" + process.pid() + "/stat"));
      return stat.charAt(stat.lastIndexOf(')') + 2) != 'Z';
    } catch (IOException e) {
      return false;
    }
  }

  @Test
  void oneFailureStopsTheOtherRuns() throws Exception {
    Path script = script("s", "[ \"$1\" = bad ] && exit 1; exec sleep 1000");
    List<NodeSpec> earlier =
        List.of(
            NodeSpec.child(1, "bad", null),
            NodeSpec.child(1, "slow1", null),
            NodeSpec.child(1, "slow2", null));
    List<Problem> problems = failure(source(TWO, script, ", \"parallelism\": 3"), earlier, TWO);
    assertThat(only(problems)).contains("for \"bad\" ended with exit code 1");
  }

  @Test
  void parentsAreAskedInParallelAndAnsweredInOrder() throws Exception {
    // Each run waits until all four have begun: only a parallel fetch ends.
    Path script =
        script(
            "s",
            "cd "
                + directory
                + "; touch begun-$1; while [ $(ls | grep -c begun-) -lt 4 ]; do sleep 0.02; done;"
                + " echo d-$1");
    List<NodeSpec> earlier =
        List.of("h4", "h2", "h3", "h1").stream().map(h -> NodeSpec.child(1, h, null)).toList();
    List<NodeSpec> nodes =
        NodeRecorder.fetch(
            source(TWO, script, ", \"parallelism\": 4"), TWO, earlier, Instant.EPOCH);
    assertThat(nodes.stream().map(NodeSpec::name)).containsExactly("d-h4", "d-h2", "d-h3", "d-h1");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "'' | is empty",
        "{\"name\": \"x\" | begins with { and is not a JSON object: ",
        "{} | has no \"name\"",
        "{\"name\": 3} | has a \"name\" that is a number, expected a string",
        "{\"name\": \"\"} | is not a node name: it is empty",
        "{\"name\": \"a\\nb\"} | is not a node name: it contains a control character or line break",
        "{\"name\": \"x\", \"tags\": \"t\"} | has \"tags\" that are a string",
        "{\"name\": \"x\", \"tags\": [1]} | has a tag that is not a string, or empty",
        "{\"name\": \"x\", \"disabled\": \"no\"} | has \"disabled\" that is a string",
        "{\"name\": \"x\", \"attributes\": []} | has \"attributes\" that are a list",
        "{\"name\": \"x\", \"tag\": []} | has the unknown key \"tag\": did you mean \"tags\"?",
        "{\"name\": \"x\", \"colour\": 1} | has the unknown key \"colour\": what is free for you"
      })
  void anUnusableLineIsAProblemWithItsNumber(String line, String message) throws Exception {
    Files.writeString(directory.resolve("out"), "good\n" + line + "\nfine\n");
    assertThat(only(failure(script("s", "cat " + directory + "/out"), "")))
        .contains("line 2 of what the script ")
        .contains("wrote for \"instance-node\" " + message);
  }

  @Test
  void textThatIsNotUtf8IsAProblem() throws Exception {
    Files.write(directory.resolve("out"), new byte[] {'a', '\n', (byte) 0xc3, '(', '\n'});
    assertThat(only(failure(script("s", "cat " + directory + "/out"), "")))
        .contains("line 2 ")
        .endsWith(" is not UTF-8, or longer than 1024 KiB");
  }

  @Test
  void aLineWithoutEndIsCutOff() throws Exception {
    assertThat(only(failure(script("s", "echo a; head -c 5000000 /dev/zero | tr '\\0' x"), "")))
        .contains("line 2 ")
        .endsWith(" is not UTF-8, or longer than 1024 KiB");
  }

  @Test
  void manyUnusableLinesStopAtTwenty() throws Exception {
    assertThat(failure(script("s", "yes '' | head -1000"), "")).hasSize(20);
  }

  @Test
  void aLineWrittenTwiceIsAProblemOfTheTree() throws Exception {
    TopologyBuilder builder = new TopologyBuilder(ONE, "instance");
    source(ONE, script("s", "echo a; echo b; echo a"), "").fetch(builder, NOW, builder);
    assertThat(Tree.messages(builder.problems()))
        .containsExactly("node \"a\" of level \"host\" is listed twice under \"instance\"");
  }

  @ParameterizedTest
  @CsvSource({"10000", "1000000"})
  void manyLinesAreManyNodes(int lines) throws Exception {
    Path script =
        script("s", "seq -f 'volume-%.0f' 1 " + lines + "; echo '{\"name\":\"last-one\"}'");
    Topology t = Tree.of(ONE, source(ONE, script, ""));
    assertThat(t.size()).isEqualTo(lines + 2);
    assertThat(t.name(1)).isEqualTo("volume-1");
    assertThat(t.name(lines)).isEqualTo("volume-" + lines);
    assertThat(t.name(lines + 1)).isEqualTo("last-one");
  }

  @Test
  void aScriptWithoutOutputHasNoChildren() throws Exception {
    assertThat(Tree.of(ONE, source(ONE, script("s", "exit 0"), "")).size()).isEqualTo(1);
  }

  @Test
  void standardInputIsEmpty() throws Exception {
    Topology t = Tree.of(ONE, source(ONE, script("s", "echo \"read:$(cat)\""), ""));
    assertThat(Tree.names(t, 1)).containsExactly("read:");
  }

  @Test
  void whatIsLeftInTheBackgroundDoesNotHoldTheFetchUp() throws Exception {
    Path script = script("s", "sleep 1000 & echo $! > " + directory + "/left; echo one");
    Topology t = Tree.of(ONE, source(ONE, script, ""));
    assertThat(Tree.names(t, 1)).containsExactly("one");
    assertGone("left");
  }

  @Test
  void aDaemonThatHoldsTheOutputOpenDoesNotHoldTheFetchUp() throws Exception {
    Path script =
        script(
            "s",
            "setsid sh -c 'echo $$ > "
                + directory
                + "/d; exec sleep 1000' & echo one;"
                + " until [ -s "
                + directory
                + "/d ]; do sleep 0.02; done; echo two");
    Topology t = Tree.of(ONE, source(ONE, script, ""));
    assertThat(Tree.names(t, 1)).containsExactly("one", "two");
    long daemon = Long.parseLong(Files.readString(directory.resolve("d")).trim());
    assertThat(ProcessHandle.of(daemon)).get().matches(ProcessHandle::destroyForcibly);
  }

  @Test
  void aScriptThatIsMissingOrNotExecutableSaysSoWithItsPath() throws Exception {
    Path absent = directory.resolve("absent");
    List<Problem> problems = failure(absent, "");
    assertThat(only(problems)).isEqualTo("there is no file " + absent);
    assertThat(problems.get(0).path()).isEqualTo(Tree.PATH + ".prefs.script");

    Path plain = Files.writeString(directory.resolve("plain"), "echo x");
    assertThat(failure(plain, "").get(0).hint()).isEqualTo("chmod +x " + plain);
    assertThat(only(failure(directory, ""))).isEqualTo(directory + " is not a file");

    Path noInterpreter = script("no", "");
    Files.writeString(noInterpreter, "#!/no/such/interpreter\n");
    assertThat(only(failure(noInterpreter, ""))).contains("ended with exit code 1");
  }

  @Test
  void aRelativePathNeedsADirectory() {
    String prefs = "{\"parent_level\": \"instance\", \"script\": \"bin/list\"}";
    Result<NodeSource> nowhere = Tree.create(new ScriptNodes.Type(), ONE, prefs, "");
    assertThat(Tree.problems(nowhere))
        .containsExactly(
            Tree.PATH
                + ".prefs.script: must be an absolute path: this configuration has no directory");
    assertThat(Tree.create(new ScriptNodes.Type(), ONE, prefs, "/etc").problems()).isEmpty();
  }
}
