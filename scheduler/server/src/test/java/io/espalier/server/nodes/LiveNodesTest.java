package io.espalier.server.nodes;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.config.Levels;
import io.espalier.core.config.NodeSourceSpec;
import io.espalier.core.config.Settings;
import io.espalier.core.config.Shard;
import io.espalier.core.json.Json;
import io.espalier.core.problem.Problem;
import io.espalier.core.problem.Result;
import io.espalier.core.topology.NodeSink;
import io.espalier.core.topology.NodeSource;
import io.espalier.core.topology.NodeSourceContext;
import io.espalier.core.topology.NodeSourceException;
import io.espalier.core.topology.NodeSourceType;
import io.espalier.core.topology.NodeSpec;
import io.espalier.core.topology.NodesSoFar;
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
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Sources that are kept, with a clock that is set by hand. */
class LiveNodesTest {
  private static final Duration REFRESH = Duration.ofMinutes(5);
  private static final Duration RETRY = Duration.ofSeconds(30);
  private static final Instant T0 = Instant.ofEpochSecond(1_000_000);

  /** What the sources called "outside" answer, by their preference "id". */
  private final Map<String, Outside> outside = new HashMap<>();

  private Instant now = T0;
  private int newsHeard;

  private final LiveNodes nodes = nodes();

  /** An outside of which a test says what is there. */
  private static final class Outside {
    /** Lines {@code name} or {@code parent/name}; a minus behind those disabled. */
    private List<String> answer = List.of();

    private boolean broken;
    private int asked;
    private int closed;
    private Optional<Duration> pace = Optional.empty();
    private Runnable changed = () -> {};
  }

  /** {@code outside}: nodes of {@code level}, children of the level above. */
  private final class OutsideType implements NodeSourceType {
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
            public void fetch(NodesSoFar soFar, Instant at, NodeSink sink)
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

  private Outside outside(String id) {
    return outside.computeIfAbsent(id, fresh -> new Outside());
  }

  private LiveNodes nodes() {
    return nodes(Shard.WHOLE);
  }

  private LiveNodes nodes(Shard shard) {
    Map<String, NodeSourceType> types = new HashMap<>();
    for (NodeSourceType type :
        List.of(new OutsideType(), new AddTimeNodes.Type(), new ManualNodes.Type())) {
      types.put(type.name(), type);
    }
    LiveNodes made =
        new LiveNodes(
            new NodeFetcher(types, "here", new NodeSourceContext("", ""), shard),
            REFRESH,
            RETRY,
            () -> now);
    made.onNews(() -> newsHeard++);
    return made;
  }

  private static String source(String id, String level, String more) {
    return "{'source': 'outside', 'prefs': {'id': '%s', 'level': '%s'}%s}"
        .formatted(id, level, more);
  }

  private static Settings settings(String levels, String... sources) {
    return SettingsText.nodes(
        "'node_order': 'original', 'levels': [%s], 'node_sources': [%s]"
            .formatted(levels, String.join(", ", sources)));
  }

  private static Settings hosts(String more) {
    return settings("'host'", source("a", "host", more));
  }

  private static Settings hostsAndDbs() {
    return settings("'host', 'db'", source("a", "host", ""), source("b", "db", ""));
  }

  private static List<String> some(int count) {
    return IntStream.range(0, count).mapToObj(i -> "h" + i).toList();
  }

  private static List<String> names(Result<Topology> result) {
    Topology t = Objects.requireNonNull(result.value(), () -> result.problems().toString());
    List<String> names = new ArrayList<>();
    for (int node = 1; node < t.size(); node++) {
      names.add(t.name(node));
    }
    return names;
  }

  private static List<String> messages(Result<Topology> result) {
    return result.problems().stream().map(Problem::message).toList();
  }

  private Result<Topology> after(Settings settings, long seconds) throws InterruptedException {
    now = now.plusSeconds(seconds);
    return nodes.refresh(settings, now);
  }

  @Test
  void eachSourceIsAskedAtItsOwnPace() throws Exception {
    outside("a").answer = List.of("h1");
    outside("b").answer = List.of("h1/d1");
    outside("b").pace = Optional.of(Duration.ofSeconds(10));
    Settings settings = hostsAndDbs();
    assertThat(names(nodes.refresh(settings, now))).containsExactly("h1", "d1");
    assertThat(nodes.nextFetch()).contains(T0.plusSeconds(10));
    outside("a").answer = List.of("h1", "h2");
    outside("b").answer = List.of("h1/d1", "h1/d2");
    assertThat(names(after(settings, 9))).containsExactly("h1", "d1");
    assertThat(names(after(settings, 1))).containsExactly("h1", "d1", "d2");
    assertThat(outside("a").asked).isEqualTo(1);
    assertThat(names(after(settings, 290))).containsExactly("h1", "h2", "d1", "d2");
    assertThat(names(nodes.fetch(settings, now))).hasSize(4);
    assertThat(outside("a").asked).isEqualTo(3);
  }

  @Test
  void aFailingSourceIsRepresentedByItsLastGoodAnswerWhileOthersGoOn() throws Exception {
    outside("a").answer = List.of("h1", "h2");
    outside("b").answer = List.of("h1/d1", "h2/d2");
    Settings settings = hostsAndDbs();
    nodes.fetch(settings, now);
    outside("b").broken = true;
    outside("a").answer = List.of("h1", "h3");
    now = now.plusSeconds(300);
    Result<Topology> result = nodes.fetch(settings, now);
    assertThat(names(result))
        .as("what hung under h2 went with it")
        .containsExactly("h1", "h3", "d1");
    assertThat(messages(result)).containsExactly("it is away");
    assertThat(nodes.nextFetch()).contains(now.plus(RETRY));
    SourceState state = nodes.sources().get(1);
    assertThat(state.failing()).isTrue();
    assertThat(state.goodAt()).isEqualTo(T0);
    assertThat(nodes.sources().get(0).goodAt()).isEqualTo(now);
    outside("b").broken = false;
    outside("b").answer = List.of("h1/d1", "h3/d3");
    assertThat(names(after(settings, 30))).containsExactly("h1", "h3", "d1", "d3");
    assertThat(nodes.sources().get(1).failing()).isFalse();
  }

  @Test
  void whileTheFirstSourceHasNoAnswerTheOthersAreNotDue() throws Exception {
    outside("a").broken = true;
    Settings settings = hostsAndDbs();
    assertThat(nodes.fetch(settings, now).value()).isNull();
    assertThat(nodes.nextFetch()).as("else the poller spins").contains(now.plus(RETRY));
    outside("a").broken = false;
    outside("a").answer = List.of("h1");
    assertThat(names(after(settings, 30))).containsExactly("h1");
  }

  @Test
  void aSourceThatNeverAnsweredLeavesNoTree() throws Exception {
    outside("a").answer = List.of("h1");
    outside("b").broken = true;
    Settings settings = hostsAndDbs();
    Result<Topology> result = nodes.fetch(settings, now);
    assertThat(result.value()).isNull();
    assertThat(messages(result)).containsExactly("it is away");
    assertThat(nodes.advance(settings, now)).isNull();
    outside("b").broken = false;
    assertThat(names(after(settings, 30))).containsExactly("h1");
    assertThat(outside("a").asked).as("it had answered").isEqualTo(1);
  }

  @Test
  void anAnswerThatMakesNoSoundTreeIsRefusedAndTheLastGoodOneStays() throws Exception {
    outside("a").answer = List.of("h1", "h2");
    outside("b").answer = List.of("h1/d1");
    Settings settings = hostsAndDbs();
    nodes.fetch(settings, now);
    outside("a").answer = List.of("h1", "h2", "h3");
    outside("b").answer = List.of("h1/d1", "h1/d1");
    Result<Topology> twice = nodes.fetch(settings, now);
    assertThat(names(twice)).containsExactly("h1", "h2", "h3", "d1");
    assertThat(messages(twice))
        .containsExactly("node \"d1\" of level \"db\" is listed twice under \"h1\"");
    outside("b").answer = List.of("h9/d1");
    Result<Topology> lost = nodes.fetch(settings, now);
    assertThat(names(lost)).containsExactly("h1", "h2", "h3", "d1");
    assertThat(messages(lost)).singleElement().asString().contains("unknown parent");
    outside("b").answer = List.of("h1/d\u0007");
    assertThat(messages(nodes.fetch(settings, now)))
        .singleElement()
        .asString()
        .contains("control character");
  }

  @Test
  void aSourceIsAskedAtOnceWhenItsParentsChange() throws Exception {
    outside("a").answer = List.of("h1");
    outside("a").pace = Optional.of(Duration.ofSeconds(10));
    Settings settings =
        settings(
            "'host', 'db'",
            source("a", "host", ""),
            "{'source': 'outside', 'prefs': {'id': 'b', 'level': 'db', 'curious': true}}");
    nodes.fetch(settings, now);
    after(settings, 10);
    assertThat(outside("b").asked).isEqualTo(1);
    outside("a").answer = List.of("h1", "h2");
    assertThat(names(after(settings, 10))).containsExactly("h1", "h2", "h1.x", "h2.x");
    assertThat(outside("b").asked).isEqualTo(2);
  }

  @Test
  void aSourceThatWatchesIsAskedSoonAfterItHeardOfAChange() throws Exception {
    outside("a").answer = List.of("h1");
    Settings settings = hosts("");
    nodes.fetch(settings, now);
    outside("a").changed.run();
    assertThat(newsHeard).isEqualTo(1);
    assertThat(nodes.nextFetch()).contains(T0.plusMillis(200));
    outside("a").answer = List.of("h1", "h2");
    assertThat(names(after(settings, 1))).containsExactly("h1", "h2");
    assertThat(nodes.nextFetch()).contains(now.plus(REFRESH));
  }

  @Test
  void otherSettingsKeepWhatIsKnownOfSourcesThatStayAndCloseTheOldOnes() throws Exception {
    outside("a").answer = List.of("h1");
    nodes.fetch(hosts(""), now);
    outside("a").broken = true;
    Settings more =
        settings("'host'", "{'source': 'manual', 'prefs': {'m': []}}", source("a", "host", ""));
    assertThat(names(after(more, 1))).containsExactly("m", "h1");
    assertThat(outside("a").closed).isEqualTo(1);
    Settings other = settings("'rack'", source("a", "rack", ""));
    assertThat(after(other, 1).value()).as("another level is another question").isNull();
    nodes.close();
    assertThat(outside("a").closed).isEqualTo(3);
  }

  @ParameterizedTest
  @CsvSource({
    // An empty answer is always held.
    "10, 0, 0, true",
    "1, 0, 0, true",
    "100, 0, 0, true",
    // One node may go, ten in a hundred, not eleven.
    "2, 1, 0, false",
    "3, 1, 0, true",
    "10, 9, 0, false",
    "10, 8, 0, true",
    "100, 90, 0, false",
    "100, 89, 0, true",
    "19, 18, 0, false",
    "19, 17, 0, true",
    // Ten may come, fifty in a hundred, not fifty-one.
    "1, 1, 10, false",
    "1, 1, 11, true",
    "100, 100, 50, false",
    "100, 100, 51, true",
    "0, 0, 1000, false"
  })
  void theGuardHoldsWhatChangesTooMuch(int before, int stay, int fresh, boolean held)
      throws Exception {
    outside("a").answer = some(before);
    Settings settings = hosts("");
    nodes.fetch(settings, now);
    List<String> answer = new ArrayList<>(some(stay));
    IntStream.range(0, fresh).forEach(i -> answer.add("new" + i));
    outside("a").answer = answer;
    now = now.plusSeconds(300);
    Result<Topology> result = nodes.fetch(settings, now);
    assertThat(names(result)).hasSize(held ? before : stay + fresh);
    assertThat(result.problems()).hasSize(held ? 1 : 0);
    assertThat(nodes.sources().get(0).held() != null).isEqualTo(held);
    assertThat(nodes.sources().get(0).goodAt()).isEqualTo(held ? T0 : now);
  }

  @ParameterizedTest
  @CsvSource({"20, 1, false", "20, 2, true", "100, 5, false", "100, 6, true"})
  void theGuardHoldsNodesThatMoveToOtherParents(int count, int moved, boolean held)
      throws Exception {
    outside("a").answer = List.of("h0", "h1");
    outside("b").answer = IntStream.range(0, count).mapToObj(i -> "h0/d" + i).toList();
    Settings settings = hostsAndDbs();
    nodes.fetch(settings, now);
    outside("b").answer =
        IntStream.range(0, count).mapToObj(i -> (i < moved ? "h1/d" : "h0/d") + i).toList();
    Result<Topology> result = nodes.fetch(settings, now);
    assertThat(result.hasErrors()).isEqualTo(held);
    Topology t = Objects.requireNonNull(result.value());
    int h1 = t.find(1, "h1");
    assertThat(t.childEnd(h1) - t.childStart(h1)).isEqualTo(held ? 0 : moved);
  }

  @Test
  void whatWentOrCameWithAParentOfAnotherSourceDoesNotCount() throws Exception {
    outside("a").answer = List.of("h1", "h2");
    List<String> dbs = new ArrayList<>();
    IntStream.range(0, 50).forEach(i -> dbs.add("h1/a" + i));
    IntStream.range(0, 50).forEach(i -> dbs.add("h2/b" + i));
    outside("b").answer = dbs;
    Settings settings = hostsAndDbs();
    nodes.fetch(settings, now);
    outside("a").answer = List.of("h1", "h3");
    List<String> others = new ArrayList<>(dbs.subList(0, 50));
    IntStream.range(0, 70).forEach(i -> others.add("h3/c" + i));
    outside("b").answer = others;
    Result<Topology> result = nodes.fetch(settings, now);
    assertThat(messages(result)).isEmpty();
    assertThat(names(result)).hasSize(2 + 120);
  }

  @Test
  void theProblemOfAHeldAnswerSaysWhatWouldChangeAndHowToLetItPass() throws Exception {
    outside("a").answer = some(10);
    Settings settings = hosts("");
    nodes.fetch(settings, now);
    outside("a").answer = some(3);
    Problem problem = nodes.fetch(settings, now).problems().get(0);
    String mark = Objects.requireNonNull(nodes.sources().get(0).held());
    assertThat(problem.toString())
        .isEqualTo(
            "error bistro_settings.nodes.node_sources[0]: the change guard holds the newest answer"
                + " of the source \"outside\", the nodes of 1970-01-12T13:46:40Z stay in force: it"
                + " removes 7 of 10 nodes of level \"host\" (70 %, allowed are 10 %: \"h3\","
                + " \"h4\", \"h5\", \"h6\", \"h7\", …); if the answer is right: \"allow_change\":"
                + " \""
                + mark
                + "\" beside \"source\"");
    outside("a").answer = List.of();
    assertThat(messages(nodes.fetch(settings, now)).get(0))
        .endsWith("it removes all 10 nodes of level \"host\"");
  }

  @ParameterizedTest
  @ValueSource(strings = {"true", "MARK"})
  void theConfigurationLetsAHeldAnswerPass(String allowed) throws Exception {
    outside("a").answer = some(10);
    nodes.fetch(hosts(""), now);
    outside("a").answer = some(3);
    nodes.fetch(hosts(""), now);
    String mark = "'" + nodes.sources().get(0).held() + "'";
    Settings other = hosts(", 'allow_change': 'ffffffffffff'");
    assertThat(names(nodes.fetch(other, now))).hasSize(10);
    Settings allowing = hosts(", 'allow_change': " + allowed.replace("MARK", mark));
    assertThat(names(nodes.fetch(allowing, now))).hasSize(3);
  }

  @Test
  void anOperatorLetsAHeldAnswerPassButNoOther() throws Exception {
    outside("a").answer = some(10);
    Settings settings = hosts("");
    nodes.fetch(settings, now);
    assertThat(nodes.allow("")).isZero();
    outside("a").answer = some(3);
    nodes.fetch(settings, now);
    assertThat(nodes.allow("000000000000")).isZero();
    assertThat(nodes.allow("")).isEqualTo(1);
    assertThat(newsHeard).isEqualTo(1);
    outside("a").answer = List.of();
    assertThat(names(nodes.refresh(settings, now))).as("not the one allowed").hasSize(10);
    outside("a").answer = some(3);
    nodes.fetch(settings, now);
    String mark = Objects.requireNonNull(nodes.sources().get(0).held());
    assertThat(nodes.allow(mark)).isEqualTo(1);
    assertThat(names(nodes.refresh(settings, now))).hasSize(3);
    assertThat(nodes.sources().get(0).held()).isNull();
  }

  @Test
  void aHeldAnswerIsBelievedAfterSoManyConfirmationsUnlessItIsEmpty() throws Exception {
    Settings settings = hosts(", 'change_guard': {'confirmations': 3}");
    outside("a").answer = some(10);
    nodes.fetch(settings, now);
    outside("a").answer = some(3);
    assertThat(names(after(settings, 300))).hasSize(10);
    assertThat(names(after(settings, 30))).hasSize(10);
    outside("a").answer = some(4);
    assertThat(names(after(settings, 30))).as("another answer begins anew").hasSize(10);
    assertThat(names(after(settings, 30))).hasSize(10);
    assertThat(names(after(settings, 30))).hasSize(4);
    outside("a").answer = List.of();
    for (int i = 0; i < 10; i++) {
      assertThat(names(after(settings, 300))).hasSize(4);
    }
  }

  @Test
  void theGuardCanBeTunedAndSwitchedOff() throws Exception {
    Settings wide = hosts(", 'change_guard': {'removed_percent': 60}");
    outside("a").answer = some(10);
    nodes.fetch(wide, now);
    outside("a").answer = some(4);
    assertThat(names(nodes.fetch(wide, now))).hasSize(4);
    Settings off = hosts(", 'change_guard': {'enabled': false}");
    outside("a").answer = List.of();
    assertThat(names(nodes.fetch(off, now))).isEmpty();
  }

  @Test
  void aHeldAnswerThatIsTakenBackIsForgotten() throws Exception {
    Settings settings = hosts("");
    outside("a").answer = some(10);
    nodes.fetch(settings, now);
    outside("a").answer = List.of();
    nodes.fetch(settings, now);
    outside("a").answer = some(10);
    Result<Topology> result = after(settings, 30);
    assertThat(result.problems()).isEmpty();
    assertThat(nodes.sources().get(0).held()).isNull();
    assertThat(nodes.sources().get(0).goodAt()).isEqualTo(now);
  }

  private static Settings timed() {
    return settings(
        "'host', 'time', 'part'",
        source("a", "host", ""),
        "{'source': 'add_time', 'prefs': {'parent_level': 'host', 'schedule': [{'cron': {'epoch':"
            + " {'period': 10}}, 'lifetime': 10}]}}",
        "{'source': 'outside', 'prefs': {'id': 'c', 'level': 'part', 'curious': true}}");
  }

  @Test
  void timeGoesOnWithoutAskingAnybody() throws Exception {
    outside("a").answer = List.of("h1");
    Settings settings = timed();
    assertThat(names(nodes.fetch(settings, now)))
        .containsExactly("h1", "h1:1000000", "h1:1000000.x");
    assertThat(nodes.nextChange()).contains(T0.plusSeconds(10));
    outside("a").broken = true;
    Result<Topology> later = nodes.advance(settings, T0.plusSeconds(10));
    assertThat(names(Objects.requireNonNull(later))).containsExactly("h1", "h1:1000010");
    assertThat(outside("a").asked).isEqualTo(1);
    assertThat(nodes.nextChange()).contains(T0.plusSeconds(20));
    // Who hangs nodes under those of time is asked at once.
    assertThat(newsHeard).isEqualTo(1);
    assertThat(names(after(settings, 11))).containsExactly("h1", "h1:1000010", "h1:1000010.x");
    assertThat(outside("a").asked).isEqualTo(1);
    assertThat(nodes.advance(hosts(""), now)).as("other settings").isNull();
  }

  @Test
  void ofSeveralSchedulersEachJudgesTheChangesOfItsOwnNodes() throws Exception {
    outside("a").answer = List.of("host1", "host2");
    List<String> dbs = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      dbs.add("host1/a" + i);
      dbs.add("host2/b" + i);
    }
    outside("b").answer = List.copyOf(dbs);
    Settings settings = hostsAndDbs();
    // host2 is of the first shard.
    LiveNodes first = nodes(new Shard(0, 2));
    LiveNodes second = nodes(new Shard(1, 2));
    assertThat(names(first.fetch(settings, now))).hasSize(21).contains("host2", "b0");
    assertThat(names(second.fetch(settings, now))).hasSize(21).contains("host1", "a0");
    // Half of the second one's nodes, a quarter of all.
    dbs.removeIf(db -> db.startsWith("host1/a1"));
    outside("b").answer = List.copyOf(dbs);
    Result<Topology> untouched = first.fetch(settings, now);
    assertThat(untouched.problems()).isEmpty();
    assertThat(names(untouched)).hasSize(21);
    Result<Topology> held = second.fetch(settings, now);
    assertThat(messages(held)).singleElement().asString().contains("removes 11 of 20 nodes");
    assertThat(names(held)).hasSize(21);
  }
}
