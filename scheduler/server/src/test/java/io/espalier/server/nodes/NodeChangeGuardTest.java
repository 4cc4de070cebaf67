package io.espalier.server.nodes;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.config.Partition;
import io.espalier.core.config.Settings;
import io.espalier.core.problem.Problem;
import io.espalier.core.problem.Result;
import io.espalier.core.topology.Topology;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Answers that change more than is believed at once. */
class NodeChangeGuardTest extends LiveNodesWorld {
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
    nodes.fetch(settings, now.plusNanos(196_914_459));
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
    assertThat(names(after(settings, 30))).as("another answer begins again").hasSize(10);
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
    NodeSourceCoordinator first = nodes(new Partition(0, 2));
    NodeSourceCoordinator second = nodes(new Partition(1, 2));
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
