package io.espalier.core.loop;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.api.Command;
import io.espalier.core.api.view.Explanation;
import io.espalier.core.loop.health.ProbeAnswer;
import io.espalier.core.rollout.Rollout.Phase;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Roll-outs that are halted by bad values of probes, and wait for good ones (docs/rollout.md). */
class RolloutProbesTest extends StagedLoop {
  private static String config(String level, String more) {
    return """
    {"bistro_settings": {"nodes": {"levels": ["host", "db"], "node_order": "original",
       "node_sources": [{"source": "manual", "prefs": {
         "h1": ["h1a", "h1b"], "h2": ["h2a", "h2b"], "h3": ["h3a", "h3b"]}}]},
       "probes": {"lag": {"level": "%s", "source": "file", "every": 10, "max_age": 60,
         "bad_above": 5, "good_below": 2}},
       "resources": {}},
     "bistro_job->j": {"owner": "o", "backoff": [1, "repeat"], "command": ["x"],
       "rollout": {"stages": [1, "100%%"], "probes": ["lag"]%s}}}
    """
        .formatted(level, more);
  }

  @BeforeEach
  void firstStage() {
    world.configure(config("host", ", \"soak\": \"1m\""));
    assertThat(running()).hasSize(1);
  }

  private String hostOfFirst() {
    return running().get(0).substring(0, 2);
  }

  private void endAll() {
    running().forEach(node -> world.writes("j", node, "done"));
  }

  private void answer(String node, double value, long ageMillis) {
    var sample = new ProbeAnswer.Sample(node, value, world.now - ageMillis);
    world.post(new LoopInput.Probed(new ProbeAnswer("lag", List.of(sample), "")));
    world.settle();
  }

  private String waits() {
    return List.of("h1a", "h2a", "h3a", "h1b").stream()
        .flatMap(node -> world.core.tasks().explain("j", node).reasons().stream())
        .filter(reason -> reason.kind() == Explanation.Kind.ROLLOUT)
        .map(Explanation.Reason::message)
        .distinct()
        .collect(Collectors.joining("; "));
  }

  @Test
  void aBadValueWhereATaskHasStartedHaltsTheJob() {
    String host = hostOfFirst();
    world.advance(5_000);
    answer(host, 7.5, 0);
    assertThat(rollout().phase()).isEqualTo(Phase.HALTED);
    assertThat(rollout().reason()).isEqualTo("probe lag is 7.5 (bad above 5) on host " + host);
    assertThat(running()).as("what runs goes on").hasSize(1);
  }

  @Test
  void whatWasBadBeforeOrIsElsewhereIsNotItsFault() {
    String host = hostOfFirst();
    world.advance(5_000);
    answer(host.equals("h1") ? "h2" : "h1", 9, 0);
    answer(host, 9, 5_500);
    assertThat(rollout().phase()).isEqualTo(Phase.RUNNING);
    answer(host, 9, 0);
    assertThat(rollout().phase()).isEqualTo(Phase.HALTED);
  }

  @Test
  void aBadValueDuringTheSoakHaltsTheJobToo() {
    String host = hostOfFirst();
    endAll();
    world.advance(30_000);
    assertThat(rollout().phase()).isEqualTo(Phase.SOAKING);
    answer(host, 6, 0);
    assertThat(rollout().phase()).isEqualTo(Phase.HALTED);
  }

  @Test
  void theNextStageWaitsForAValueOfEachNode() {
    String host = hostOfFirst();
    endAll();
    world.advance(120_000);
    assertThat(running()).isEmpty();
    assertThat(rollout().phase()).isEqualTo(Phase.SOAKING);
    assertThat(waits()).endsWith("opens when probe lag has a new value of host " + host);
    assertThat(world.loop.isQuiet()).as("a value may come").isFalse();
    // Too old: it says nothing of now.
    answer(host, 1, 60_001);
    assertThat(running()).isEmpty();
    // Between good and bad is not bad.
    answer(host, 3, 0);
    assertThat(running()).hasSize(5);
  }

  @Test
  void afterResumeOnlyNewValuesCount() {
    String host = hostOfFirst();
    world.advance(5_000);
    answer(host, 9, 0);
    assertThat(rollout().phase()).isEqualTo(Phase.HALTED);
    world.advance(1_000);
    world.done(new Command.Resume("j", "ann", ""));
    assertThat(rollout().phase()).isEqualTo(Phase.RUNNING);
    world.advance(5_000);
    answer(host, 9, 0);
    assertThat(rollout().phase()).isEqualTo(Phase.HALTED);
  }

  @Test
  void whatIsLeftWithoutProbesGoesOn() {
    String host = hostOfFirst();
    world.configure(config("host", "").replace("\"probes\": [\"lag\"]", "\"soak\": 0"));
    answer(host, 9, 0);
    assertThat(rollout().phase()).isEqualTo(Phase.RUNNING);
  }

  @Test
  void nodesOfTasksThatOutliveARestartCount() {
    String host = hostOfFirst();
    world.advance(5_000);
    world.isRemote = true;
    world.crashAndRestart();
    world.configure(config("host", ", \"soak\": \"1m\""));
    world.advance(5_000);
    assertThat(rollout().phase()).isEqualTo(Phase.RUNNING);
    answer(host, 9, 0);
    assertThat(rollout().phase()).isEqualTo(Phase.HALTED);
  }

  @Test
  void theNextStageWaitsForAValueOfEachNodeOverARestart() {
    String host = hostOfFirst();
    endAll();
    world.advance(120_000);
    world.crashAndRestart();
    world.configure(config("host", ", \"soak\": \"1m\""));
    world.advance(120_000);
    assertThat(running()).isEmpty();
    assertThat(rollout().phase()).isEqualTo(Phase.SOAKING);
    assertThat(waits()).endsWith("opens when probe lag has a new value of host " + host);
    answer(host.equals("h1") ? "h2" : "h1", 1, 0);
    assertThat(running()).isEmpty();
    answer(host, 1, 0);
    assertThat(running()).hasSize(5);
  }

  @Test
  void aBadValueWhereTasksHaveEndedBeforeARestartHaltsTheJob() {
    String host = hostOfFirst();
    endAll();
    world.advance(30_000);
    world.crashAndRestart();
    world.configure(config("host", ", \"soak\": \"1m\""));
    answer(host.equals("h1") ? "h2" : "h1", 9, 0);
    assertThat(rollout().phase()).isEqualTo(Phase.SOAKING);
    answer(host, 9, 0);
    assertThat(rollout().phase()).isEqualTo(Phase.HALTED);
  }

  @Test
  void afterARestartTheNodesOfManyTasksAreFoundInSlices() {
    String prefs =
        IntStream.range(0, 6)
            .mapToObj(
                host ->
                    IntStream.range(0, 2_500)
                        .mapToObj(db -> "\"g" + host + "d" + db + "\"")
                        .collect(Collectors.joining(", ", "\"g" + host + "\": [", "]")))
            .collect(Collectors.joining(", "));
    String many =
        config("host", "")
            .replaceAll("\"h1\".*b\"]", prefs)
            .replace("[1, \"100%\"]", "[\"50%\", \"100%\"]");
    world.configure(many);
    assertThat(running().stream().filter(node -> node.startsWith("g"))).hasSize(7_500);
    endAll();
    world.crashAndRestart();
    world.configure(many);
    for (int host = 0; host < 6; host++) {
      assertThat(running()).as("before the value of host %d", host).isEmpty();
      answer("g" + host, 1, 0);
    }
    assertThat(running()).hasSize(7_500);
  }

  @Test
  void nodesOfRunningTasksCountWhenAHaltedJobIsResumedAfterARestart() {
    String host = hostOfFirst();
    world.advance(5_000);
    answer(host, 9, 0);
    world.isRemote = true;
    world.crashAndRestart();
    world.configure(config("host", ", \"soak\": \"1m\""));
    assertThat(rollout().phase()).isEqualTo(Phase.HALTED);
    world.done(new Command.Resume("j", "ann", ""));
    assertThat(rollout().phase()).isEqualTo(Phase.RUNNING);
    world.advance(5_000);
    answer(host, 9, 0);
    assertThat(rollout().phase()).isEqualTo(Phase.HALTED);
  }

  @Test
  void aProbeOfTheInstanceIsACheckOfTheWhole() {
    world.configure(config("instance", ", \"on_change\": \"continue\""));
    String instance = world.core.topology().name(0);
    endAll();
    world.advance(1_000);
    assertThat(running()).hasSize(5);
    answer(instance, 8, 0);
    assertThat(rollout().phase()).isEqualTo(Phase.HALTED);
    assertThat(rollout().reason()).startsWith("probe lag is 8 (bad above 5) on instance ");
  }
}
