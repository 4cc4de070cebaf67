package io.espalier.nodes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.espalier.core.config.Levels;
import io.espalier.core.json.Json;
import io.espalier.core.topology.NodeSource;
import io.espalier.core.topology.NodeSourceException;
import io.espalier.core.topology.NodeSourceType;
import io.espalier.core.topology.NodeSpec;
import io.espalier.testkit.nodes.NodeRecorder;
import io.espalier.testkit.nodes.NodeSourceContract;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class AddTimeNodesTest extends NodeSourceContract {
  private static final Levels TWO = Levels.of(List.of("host", "time"));
  private static final Levels ONE = Levels.of(List.of("time"));

  @Override
  protected NodeSourceType type() {
    return new AddTimeNodes.Type();
  }

  /** {@link #NOW} is 22:13:20 in UTC. */
  @Override
  protected Example example() {
    Json.Obj prefs =
        Tree.prefs(
            "{\"parent_level\": \"host\", \"format\": \"{time}/{parent}\", \"time_zone\": \"UTC\","
                + " \"schedule\": [{\"cron\": {\"minute\": {\"period\": 10}, \"dst_fixes\":"
                + " [\"skip\", \"repeat_use_both\"]}, \"lifetime\": 1200, \"enabled_lifetime\":"
                + " 300, \"tags\": [\"a\", \"b\"]}, {\"cron\": \"10 * * * *\", \"lifetime\": 600,"
                + " \"tags\": [\"c\"]}]}");
    long late = NOW.getEpochSecond() - 200;
    List<NodeSpec> expected = new ArrayList<>();
    for (String parent : List.of("x", "y")) {
      expected.add(node(2, late - 600 + "/" + parent, parent, 1, false, Set.of("a", "b")));
      expected.add(node(2, late + "/" + parent, parent, 1, true, Set.of("a", "b", "c")));
    }
    return new Example(
        TWO, prefs, List.of(NodeSpec.child(1, "x", null), NodeSpec.child(1, "y", null)), expected);
  }

  private static NodeSpec node(
      int level, String name, String parent, int parentLevel, boolean enabled, Set<String> tags) {
    return new NodeSpec(level, name, parent, parentLevel, enabled, tags, Json.Obj.EMPTY);
  }

  @Override
  protected Map<Json.Obj, List<String>> badPrefs() {
    return Map.of(
        Json.Obj.EMPTY,
        List.of("parent_level", "schedule"),
        Tree.prefs(
            "{\"parent_level\": \"time\", \"format\": \"{when}\", \"time_zone\": \"Mars/Base\","
                + " \"schedule\": {}}"),
        List.of("parent_level", "format", "time_zone", "schedule"),
        Tree.prefs(
            "{\"parent_level\": \"host\", \"format\": \"{parent}\", \"schedule\": [7, {},"
                + " {\"cron\": {\"epoch\": -1}, \"lifetime\": 0, \"enabled_lifetime\": -2,"
                + " \"tags\": \"t\", \"time_zone\": 5}, {\"cron\": \"* * *\", \"lifetime\": 5,"
                + " \"dst_fixes\": [\"skip\"]}]}"),
        List.of(
            "format",
            "schedule[0]",
            "schedule[1].lifetime",
            "schedule[1].cron",
            "schedule[2].lifetime",
            "schedule[2].enabled_lifetime",
            "schedule[2].tags",
            "schedule[2].time_zone",
            "schedule[2].cron.epoch",
            "schedule[3].dst_fixes",
            "schedule[3].cron"),
        Tree.prefs(
            "{\"parent_level\": \"host\", \"schedule\": [{\"lifetime\": 9, \"cron\": {\"epoch\":"
                + " 1}, \"dst_fixes\": [], \"lifetimes\": 3}]}"),
        List.of("schedule[0].dst_fixes", "schedule[0].lifetimes"));
  }

  @Override
  protected List<Json.Obj> failingPrefs() {
    return List.of(
        Tree.prefs(
            "{\"parent_level\": \"host\", \"schedule\": [{\"cron\": {\"epoch\": {}}, \"lifetime\":"
                + " 1000001}]}"));
  }

  private static NodeSource source(String schedule) {
    return Tree.source(
        new AddTimeNodes.Type(),
        ONE,
        "{\"parent_level\": \"instance\", \"format\": \"{time}\", \"schedule\": "
            + schedule.replace('\'', '"')
            + "}");
  }

  private static String at(NodeSource source, long second) throws Exception {
    StringBuilder out = new StringBuilder();
    for (NodeSpec node :
        NodeRecorder.fetch(source, ONE, List.of(), Instant.ofEpochSecond(second, 999))) {
      out.append(out.length() == 0 ? "" : " ").append(node.name());
      out.append(node.enabled() ? "" : "-");
    }
    return out.toString();
  }

  @Test
  void n11AScheduleNeedsALifetime() {
    assertThat(
            Tree.problems(
                Tree.create(
                    new AddTimeNodes.Type(),
                    ONE,
                    "{\"parent_level\": \"instance\", \"schedule\": [{\"cron\": {\"epoch\":"
                        + " 1}}]}")))
        .containsExactly(
            Tree.PATH
                + ".prefs.schedule[0].lifetime: \"lifetime\" is missing: expected the seconds for"
                + " which a node exists");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '"',
      value = {
        // N12 of docs/design/bistro.md#conformance-of-node-sources
        "'period': 4 | 1 | 4 | 4",
        "'period': 4 | 1 | 5 | \"\"",
        "'period': 4 | 1 | 7 | \"\"",
        "'period': 4 | 1 | 8 | 8",
        "'period': 4 | 3 | 4 | 4",
        "'period': 4 | 3 | 6 | 4",
        "'period': 4 | 3 | 7 | \"\"",
        "'period': 4 | 3 | 8 | 8",
        // N15 of docs/design/bistro.md#conformance-of-node-sources
        "'period': 7 | 7 | 10 | 7",
        "'period': 8 | 8 | 7 | 0",
        "'period': 8 | 8 | 8 | 8",
        "'period': 8 | 8 | 9 | 8",
        "'period': 2 | 1 | 6 | 6",
        "'period': 2 | 2 | 6 | 6",
        "'period': 2 | 3 | 6 | 4 6",
        "'start': 2, 'period': 6 | 6 | 9 | 8",
        "'start': 2, 'period': 6 | 8 | 9 | 2 8"
      })
  void n12AndN15NodesLiveForTheirLifetime(String epoch, long lifetime, long now, String nodes)
      throws Exception {
    NodeSource source =
        source("[{'cron': {'epoch': {%s}}, 'lifetime': %d}]".formatted(epoch, lifetime));
    assertThat(at(source, now)).isEqualTo(nodes);
  }

  @Test
  void n13NodesAreDisabledAfterTheirEnabledLifetime() throws Exception {
    NodeSource source =
        source("[{'cron': {'epoch': {'period': 4}}, 'lifetime': 4, 'enabled_lifetime': 3}]");
    assertThat(at(source, 4)).isEqualTo("4");
    assertThat(at(source, 6)).isEqualTo("4");
    assertThat(at(source, 7)).isEqualTo("4-");
    assertThat(at(source, 8)).isEqualTo("8");
    // The same whichever way time goes.
    assertThat(at(source, 7)).isEqualTo("4-");
    assertThat(at(source, 4_000_003)).isEqualTo("4000000-");
  }

  @Test
  void n18AScheduleNeedsACron() {
    assertThat(
            Tree.problems(
                Tree.create(
                    new AddTimeNodes.Type(),
                    ONE,
                    "{\"parent_level\": \"instance\", \"schedule\": [{\"lifetime\": 1}]}")))
        .containsExactly(
            Tree.PATH
                + ".prefs.schedule[0].cron: \"cron\" is missing: expected when the events are");
  }

  @Test
  void itemsOfTheSameSecondAreOneNode() throws Exception {
    NodeSource source =
        source(
            "[{'cron': {'epoch': {'period': 4}}, 'lifetime': 9, 'tags': ['a']},"
                + " {'cron': {'epoch': {'period': 6}}, 'lifetime': 9, 'enabled_lifetime': 1,"
                + " 'tags': ['b', 'c']}]");
    List<NodeSpec> nodes = NodeRecorder.fetch(source, ONE, List.of(), Instant.ofEpochSecond(13));
    assertThat(nodes).extracting(NodeSpec::name).containsExactly("6", "8", "12");
    assertThat(nodes).extracting(NodeSpec::enabled).containsExactly(false, true, false);
    assertThat(nodes)
        .extracting(NodeSpec::tags)
        .containsExactly(Set.of("b", "c"), Set.of("a"), Set.of("a", "b", "c"));
  }

  @Test
  void eachScheduleHasATimeZoneOfItsOwn() throws Exception {
    NodeSource source =
        Tree.source(
            new AddTimeNodes.Type(),
            ONE,
            "{\"parent_level\": \"instance\", \"time_zone\": \"Asia/Tokyo\", \"schedule\": ["
                + "{\"cron\": \"0 3 * * *\", \"lifetime\": 86400},"
                + "{\"cron\": \"0 3 * * *\", \"lifetime\": 86400, \"time_zone\":"
                + " \"America/New_York\"}]}");
    Instant now = Instant.parse("2026-07-02T00:00:00Z");
    assertThat(NodeRecorder.fetch(source, ONE, List.of(), now))
        .extracting(NodeSpec::name)
        .containsExactly(
            "instance-node:" + Instant.parse("2026-07-01T07:00:00Z").getEpochSecond(),
            "instance-node:" + Instant.parse("2026-07-01T18:00:00Z").getEpochSecond());
  }

  @Test
  void itTellsEverySecondInWhichItChangesAndNoOther() throws Exception {
    NodeSource source =
        source(
            "[{'cron': {'epoch': {'period': 7}}, 'lifetime': 5, 'enabled_lifetime': 2},"
                + " {'cron': {'epoch': [11, 40]}, 'lifetime': 9}]");
    List<Long> changes = new ArrayList<>();
    for (long second = 1; second < 60; second++) {
      if (!at(source, second).equals(at(source, second - 1))) {
        changes.add(second);
      }
    }
    List<Long> told = new ArrayList<>();
    Instant next = source.nextChange(Instant.ofEpochSecond(0, 999_999_999)).orElseThrow();
    while (next.getEpochSecond() < 60) {
      assertThat(next.getNano()).isZero();
      told.add(next.getEpochSecond());
      next = source.nextChange(next).orElseThrow();
    }
    assertThat(told).isEqualTo(changes);
    assertThat(source.isComputed()).isTrue();
  }

  @Test
  void aScheduleThatIsOverChangesNoMore() throws Exception {
    NodeSource source = source("[{'cron': {'epoch': 5}, 'lifetime': 3}]");
    assertThat(source.nextChange(Instant.ofEpochSecond(1))).contains(Instant.ofEpochSecond(5));
    assertThat(source.nextChange(Instant.ofEpochSecond(5))).contains(Instant.ofEpochSecond(8));
    assertThat(source.nextChange(Instant.ofEpochSecond(8))).isEmpty();
  }

  @Test
  void aLongFetchHonoursInterruption() {
    NodeSource source = source("[{'cron': {'epoch': {}}, 'lifetime': 1000000}]");
    Thread.currentThread().interrupt();
    assertThatThrownBy(() -> at(source, 9_999_999)).isInstanceOf(InterruptedException.class);
    assertThat(Thread.interrupted()).isFalse();
  }

  @Test
  void tooManyEventsAreRefused() {
    NodeSource source = source("[{'cron': {'epoch': {}}, 'lifetime': 1000001}]");
    assertThatThrownBy(() -> at(source, 99_999_999))
        .isInstanceOf(NodeSourceException.class)
        .hasMessage("more than 1,000,000 events are in a lifetime of 1,000,001 seconds");
  }
}
