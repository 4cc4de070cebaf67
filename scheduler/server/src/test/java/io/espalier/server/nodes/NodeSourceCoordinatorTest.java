package io.espalier.server.nodes;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.config.Settings;
import io.espalier.core.problem.Result;
import io.espalier.core.topology.Topology;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Sources that are kept, with a clock that is set by hand. */
class NodeSourceCoordinatorTest extends LiveNodesWorld {
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
  void whileTheSettingsOfASourceHaveAnErrorNobodyIsDue() throws Exception {
    outside("a").answer = List.of("h1");
    outside("a").pace = Optional.of(Duration.ofSeconds(10));
    outside("b").answer = List.of("h1/d1");
    Settings settings = hostsAndDbs();
    nodes.fetch(settings, now);
    Settings broken = settings("'host', 'db'", "{'source': 'outside', 'prefs': {'id': 'a'}}");
    Result<Topology> result = after(broken, 60);
    assertThat(result.value()).isNull();
    assertThat(nodes.nextFetch()).as("else the poller spins").isEmpty();
    assertThat(names(after(settings, 60))).containsExactly("h1", "d1");
    assertThat(nodes.nextFetch()).contains(now.plusSeconds(10));
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
}
