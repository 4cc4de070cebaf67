package io.espalier.server.replay;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.config.Config;
import io.espalier.core.config.NodeOrder;
import io.espalier.core.json.Json;
import io.espalier.core.scheduling.CoreEvent;
import io.espalier.core.scheduling.capacity.HealthLimit;
import io.espalier.core.scheduling.capacity.LimitFactor;
import io.espalier.core.scheduling.gate.GateKind;
import io.espalier.core.scheduling.gate.Scope;
import io.espalier.core.topology.SpreadGroups;
import io.espalier.core.topology.Topology;
import io.espalier.core.topology.TopologyBuilder;
import io.espalier.testkit.config.ConfigFixtures;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The lines of gates in recordings keep the words that older versions wrote. */
final class GateLinesTest {
  @ParameterizedTest
  @CsvSource({
    "PAUSE, '', PAUSE, true",
    "RESUME, '', PAUSE, false",
    "HOLD, '', LOADING, true",
    "RELEASE, '', LOADING, false",
    "CLOSE, DEADLINE, DEADLINE, true",
    "REOPEN, DEADLINE, DEADLINE, false",
    "CLOSE, JOB_FAILED, JOB_FAILED, true",
    "REOPEN, JOB_SUCCEEDED, JOB_SUCCEEDED, false",
    "CLOSE, JOB_STARTING, JOB_STARTING, true"
  })
  void everyOperationIsReadAndWrittenAlike(
      String operation, String why, GateKind kind, boolean closed) {
    Json line = Json.strings(List.of("gate", operation, "job", why));
    List<CoreEvent> events = new LineEvents(ConfigFixtures.parser(), () -> null).events(line);
    assertThat(events).containsExactly(new CoreEvent.Gated(kind, Scope.job("job"), closed));
    List<Json> written = new ArrayList<>();
    events.forEach(new EventLines(written::add)::write);
    assertThat(written).containsExactly(line);
  }

  @Test
  void gatesOfNodesAndWorkersFactorsAndHealthAreReadAsTheyWereWritten() {
    LimitFactor factor =
        new LimitFactor("f", Scope.node("host", "h1"), Set.of("ram", "cpu"), 250_000, "", "", 0, 0);
    List<CoreEvent> events =
        List.of(
            new CoreEvent.Gated(GateKind.NODE_CLOSED, Scope.node("host", "h1"), true),
            new CoreEvent.Gated(GateKind.NODE_CLOSED, Scope.node("host", "h1"), false),
            new CoreEvent.Gated(
                GateKind.JOB_QUARANTINE, Scope.jobOnNode("job", "host", "h1"), true),
            new CoreEvent.Gated(GateKind.WORKER_STARTING, Scope.worker("w1"), true),
            new CoreEvent.Gated(GateKind.WORKER_STARTING, Scope.worker("w1"), false),
            new CoreEvent.FactorSet(factor),
            new CoreEvent.FactorSet(
                new LimitFactor("g", Scope.level("db"), Set.of(), 0, "", "", 0, 0)),
            new CoreEvent.FactorRemoved("f"),
            new CoreEvent.HealthSet(new HealthLimit("host", "ram", "h1", 2, "", 0)),
            new CoreEvent.HealthRemoved("host", "ram", ""));
    List<CoreEvent> read = new ArrayList<>();
    LineEvents lines = new LineEvents(ConfigFixtures.parser(), () -> null);
    events.forEach(event -> new EventLines(line -> read.addAll(lines.events(line))).write(event));
    assertThat(read).isEqualTo(events);
  }

  @Test
  void groupsWithMembersInOtherPartitionsAreReadAsTheyWereWritten() {
    SpreadGroups spread =
        new SpreadGroups(
            Set.of(new SpreadGroups.Kind(1, "tag:t*")),
            Map.of(new SpreadGroups.Kind(2, "attribute:set"), Map.of("a", 1, "b", 20)));
    Config config =
        Objects.requireNonNull(
            ConfigFixtures.parser()
                .parse(
                    ConfigFixtures.json(
                        "{'bistro_settings': {'nodes': {'levels': ['host', 'db']},"
                            + " 'resources': {}}}"))
                .value());
    Topology nodes =
        Objects.requireNonNull(
            new TopologyBuilder(config.settings().levels(), "here")
                .spreadGroups(spread)
                .build(NodeOrder.ORIGINAL)
                .value());
    ArrayDeque<Json> written = new ArrayDeque<>();
    EventLines out = new EventLines(written::add);
    out.write(new CoreEvent.Began(config, nodes));
    LineEvents lines = new LineEvents(ConfigFixtures.parser(), written::poll);
    CoreEvent read = lines.events(written.remove()).get(0);
    assertThat(((CoreEvent.Began) read).topology().spreadGroups()).isEqualTo(spread);
  }
}
