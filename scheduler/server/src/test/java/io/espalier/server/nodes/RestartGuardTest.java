package io.espalier.server.nodes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.espalier.core.config.Settings;
import io.espalier.core.problem.Problem;
import io.espalier.core.problem.Result;
import io.espalier.core.topology.Topology;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** The change guard at a start, after a fail-over, and after a source was edited. */
class RestartGuardTest extends LiveNodesWorld {
  private void restart() {
    nodes.close();
    nodes = nodes();
  }

  private static List<String> twoLevels(int hosts) {
    List<String> dbs = new ArrayList<>();
    for (int i = 0; i < hosts; i++) {
      dbs.add("h" + i + "/d" + i);
    }
    return dbs;
  }

  @Test
  void anEmptyFirstAnswerAfterARestartIsHeldAndThereAreNoNodesBeforeAGoodOne() throws Exception {
    Settings settings = hosts("");
    outside("a").answer = some(20);
    nodes.fetch(settings, now);
    restart();
    outside("a").answer = List.of();
    Result<Topology> held = nodes.fetch(settings, now);
    assertThat(held.value()).isNull();
    assertThat(held.problems())
        .singleElement()
        .extracting(Problem::message)
        .asString()
        .contains("the first one since this scheduler started", "removes all 20 nodes");
    assertThat(nodes.sources().get(0).held()).isNotNull();
    outside("a").answer = some(20);
    assertThat(names(after(settings, 60))).hasSize(20);
    assertThat(nodes.sources().get(0).held()).isNull();
  }

  @Test
  void whatChangesLittleMeanwhileIsInForceAtOnce() throws Exception {
    Settings settings = hosts("");
    outside("a").answer = some(20);
    nodes.fetch(settings, now);
    restart();
    outside("a").answer = some(19);
    assertThat(names(nodes.fetch(settings, now))).hasSize(19);
    restart();
    outside("a").answer = some(25);
    assertThat(names(nodes.fetch(settings, now))).hasSize(25);
  }

  @Test
  void anOperatorLetsAHeldFirstAnswerPass() throws Exception {
    Settings settings = hosts("");
    outside("a").answer = some(20);
    nodes.fetch(settings, now);
    restart();
    outside("a").answer = some(5);
    assertThat(nodes.fetch(settings, now).value()).isNull();
    String mark = Objects.requireNonNull(nodes.sources().get(0).held());
    assertThat(nodes.allow(mark)).isEqualTo(1);
    assertThat(names(after(settings, 0))).hasSize(5);
    restart();
    assertThat(names(nodes.fetch(settings, now))).as("it is what is remembered now").hasSize(5);
    restart();
    outside("a").answer = List.of();
    assertThat(nodes.fetch(settings, now).value()).isNull();
    assertThat(names(nodes.fetch(hosts(", 'allow_change': true"), now))).isEmpty();
  }

  @Test
  void aSourceThatFailsAtTheStartIsJudgedByWhatWasBeforeWhenItAnswers() throws Exception {
    Settings settings = hosts("");
    outside("a").answer = some(20);
    nodes.fetch(settings, now);
    restart();
    outside("a").broken = true;
    assertThat(nodes.fetch(settings, now).value()).isNull();
    outside("a").broken = false;
    outside("a").answer = some(1);
    assertThat(after(settings, 60).value()).isNull();
  }

  @Test
  void ofManyNodesSomeAreRememberedAndTellAHalfFromAll() throws Exception {
    Settings settings = hosts("");
    outside("a").answer = some(20_000);
    nodes.fetch(settings, now);
    assertThat(saved).hasSizeLessThan(40_000);
    restart();
    outside("a").answer = some(10_000);
    Result<Topology> half = nodes.fetch(settings, now);
    assertThat(half.value()).isNull();
    assertThat(messages(half).get(0)).contains("removes about", "of 20000 nodes");
    outside("a").answer = some(19_500);
    assertThat(names(after(settings, 60))).hasSize(19_500);
    restart();
    outside("a").answer = some(60_000);
    assertThat(messages(nodes.fetch(settings, now)).get(0)).contains("adds about 40500");
  }

  @Test
  void otherParentsAreSeenAfterARestart() throws Exception {
    Settings settings = hostsAndDbs();
    outside("a").answer = some(20);
    outside("b").answer = twoLevels(20);
    nodes.fetch(settings, now);
    restart();
    outside("b").answer =
        twoLevels(20).stream().map(line -> line.replaceFirst(".*/", "h0/")).toList();
    assertThat(messages(nodes.fetch(settings, now)).get(0))
        .contains("moves to other parents about 19");
  }

  @Test
  void whatWentWithItsParentDoesNotCount() throws Exception {
    Settings settings =
        settings(
            "'host', 'db'",
            source("a", "host", ", 'change_guard': {'enabled': false}"),
            source("b", "db", ""));
    outside("a").answer = some(20);
    outside("b").answer = twoLevels(20);
    nodes.fetch(settings, now);
    restart();
    outside("a").answer = some(10);
    outside("b").answer = twoLevels(10);
    assertThat(names(nodes.fetch(settings, now))).hasSize(20);
  }

  @Test
  void anEditedSourceIsJudgedByItsOldAnswerWhichStaysMeanwhile() throws Exception {
    outside("a").answer = some(20);
    nodes.fetch(hosts(""), now);
    outside("other").answer = List.of();
    Settings edited = settings("'host'", source("other", "host", ""));
    Result<Topology> held = nodes.fetch(edited, now);
    assertThat(names(held)).as("the nodes from before stay").hasSize(20);
    assertThat(messages(held).get(0)).contains("removes all 20 nodes");
    outside("other").broken = true;
    assertThat(names(after(edited, 60))).hasSize(20);
    outside("other").broken = false;
    outside("other").answer = some(19);
    assertThat(names(after(edited, 60))).hasSize(19);
  }

  @Test
  void aSourceEditedWhileTheSchedulerWasAwayIsJudgedToo() throws Exception {
    outside("a").answer = some(20);
    nodes.fetch(hosts(""), now);
    restart();
    outside("other").answer = List.of();
    assertThat(nodes.fetch(settings("'host'", source("other", "host", "")), now).value()).isNull();
  }

  @Test
  void aSourceInFrontOfOthersTakesNobodysPlace() throws Exception {
    outside("b").answer = twoLevels(20);
    outside("a").answer = some(20);
    nodes.fetch(hostsAndDbs(), now);
    restart();
    outside("new").answer = List.of("x");
    Settings more =
        settings(
            "'host', 'db'",
            source("new", "host", ""),
            source("a", "host", ""),
            source("b", "db", ""));
    assertThat(names(nodes.fetch(more, now))).hasSize(41);
  }

  @Test
  void itIsSavedWhenTheNodesChangeAndNotElse() throws Exception {
    Settings settings = hosts("");
    outside("a").answer = some(20);
    nodes.fetch(settings, now);
    after(settings, 300);
    after(settings, 300);
    assertThat(saves).isEqualTo(1);
    outside("a").answer = some(21);
    after(settings, 300);
    assertThat(saves).isEqualTo(2);
  }

  @Test
  void withoutWhatIsRememberedNothingIsTakenForGood() throws Exception {
    Settings settings = hosts("");
    outside("a").answer = some(20);
    nodes.fetch(settings, now);
    restart();
    memoryAway = true;
    outside("a").answer = List.of();
    assertThatThrownBy(() -> nodes.fetch(settings, now)).hasMessage("the store is away");
    memoryAway = false;
    assertThat(after(settings, 30).value()).isNull();
    outside("a").answer = some(20);
    assertThat(names(after(settings, 60))).hasSize(20);
  }
}
