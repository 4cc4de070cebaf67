package io.espalier.server.replay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.espalier.core.config.Config;
import io.espalier.core.config.NodeOrder;
import io.espalier.core.json.Json;
import io.espalier.core.scheduling.CoreEvent;
import io.espalier.core.status.TaskStatus;
import io.espalier.core.status.TaskStatus.Main;
import io.espalier.core.topology.NodeSpec;
import io.espalier.core.topology.Topology;
import io.espalier.core.topology.TopologyBuilder;
import io.espalier.testkit.config.ConfigFixtures;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Lines with many statuses or nodes. */
final class ColumnLinesTest {
  private final ArrayDeque<Json> written = new ArrayDeque<>();
  private final EventLines lines = new EventLines(written::add);

  private List<CoreEvent> read() {
    LineEvents events = new LineEvents(ConfigFixtures.parser(), written::poll);
    List<CoreEvent> read = new ArrayList<>();
    for (Json line = written.poll(); line != null; line = written.poll()) {
      read.addAll(events.events(line));
    }
    return read;
  }

  private static Json json(String text) {
    return ConfigFixtures.json(text);
  }

  @Test
  void statusesAreReadAsTheyWereWrittenInOrder() {
    List<Main> mains = List.of(Main.values());
    List<CoreEvent> events = new ArrayList<>();
    for (int i = 0; i < 10_000; i++) {
      TaskStatus status =
          TaskStatus.of(mains.get(i % mains.size()), 1_000_000_000_000L - 997L * i, i % 11);
      events.add(new CoreEvent.StatusSet(i / 5_000, 3 * (i % 5_000), status));
    }
    events.add(new CoreEvent.StatusSet(2, 7, TaskStatus.waiting(5, 30, 2)));
    events.add(new CoreEvent.StatusSet(2, 8, null));
    events.add(new CoreEvent.StatusSet(2, 7, TaskStatus.waiting(6, 30, 3)));
    events.add(new CoreEvent.StatusSet(2, 7, TaskStatus.of(Main.DONE, 7, 3)));
    events.add(new CoreEvent.Clock(8));
    events.forEach(lines::write);
    lines.flush();
    assertThat(read()).isEqualTo(events);
  }

  @Test
  void tasksOfOneJobInAFewStatusesShareALine() {
    for (int i = 0; i < 4_000; i++) {
      lines.write(new CoreEvent.StatusSet(0, i, TaskStatus.of(Main.DONE, i, 1 + i % 2)));
    }
    assertThat(written).isEmpty();
    lines.flush();
    assertThat(written).hasSize(1);
  }

  @Test
  void likeTasksOnNodesInARowTakeOneNumber() {
    TaskStatus done = TaskStatus.of(Main.DONE, 5, 1);
    List<CoreEvent> events = new ArrayList<>();
    for (int node = 0; node < 5_000; node++) {
      events.add(
          new CoreEvent.StatusSet(1, node, node == 70 ? TaskStatus.waiting(6, 30, 2) : done));
    }
    events.add(new CoreEvent.StatusSet(1, 5_001, done));
    events.forEach(lines::write);
    lines.flush();
    assertThat(written)
        .extracting(line -> ((Json.Arr) line).items().get(4))
        .containsExactly(Json.of("0 0 0 -69 1 1 0 1 0 0 -4024"), Json.of("0 0 0 -903 2 0 0"));
    assertThat(read()).isEqualTo(events);
  }

  @Test
  void aStatusWithALineOfItsOwnIsStillRead() {
    written.add(json("['status', 0, 3, ['DONE', 0, 5000, 0, 0, 1]]"));
    assertThat(read())
        .containsExactly(new CoreEvent.StatusSet(0, 3, TaskStatus.of(Main.DONE, 5_000, 1)));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "['statuses', 0, 3, [['DONE', 0, 5000, 0, 0, 1]], '0 1 0']",
        "['statuses', 0, 3, [['DONE', 0, 5000, 0, 0, 1]], '0 0']",
        "['statuses', 0, 3, [['DONE', 0, 5000, 0, 0, 1]], '0 0 x']",
        "['statuses', 0, 3, [['DONE', 0, 5000, 0, 0, 1]], '-2']",
        "['statuses', 0, 3, [['DONE', 0, 5000, 0, 0, 1]], '0 0 0 -4096']",
        "['statuses', 0, 3, [['DONE', 0, 5000, 0, 0, 1]], '0 0 0 -9223372036854775808']",
        "['statuses', 0, 3, [null], '0 0 0']",
        "['statuses', 0, 3]"
      })
  void aBrokenLineIsRefused(String line) {
    written.add(json(line));
    assertThatThrownBy(this::read).isInstanceOf(IllegalArgumentException.class);
  }

  private static Config config() {
    return Objects.requireNonNull(
        ConfigFixtures.parser()
            .parse(
                json(
                    "{'bistro_settings': {'nodes': {'levels': ['host', 'db']},"
                        + " 'resources': {}}}"))
            .value());
  }

  /** Hosts with databases: some with tags, some switched off, some with two parents. */
  private static Topology tree(Config config, int hosts) {
    TopologyBuilder builder = new TopologyBuilder(config.settings().levels(), "here");
    for (int host = 0; host < hosts; host++) {
      builder.add(NodeSpec.child(1, "h" + host, null));
    }
    for (int db = 0; db < 10 * hosts; db++) {
      String name = "d" + db;
      Set<String> tags = db % 10 == 3 ? Set.of("big", "old") : Set.of();
      Json.Obj attributes = db % 10 < 2 ? Json.object().put("rack", 7).build() : Json.Obj.EMPTY;
      boolean enabled = db % 10 != 5;
      builder.add(new NodeSpec(2, name, "h" + db / 10, 1, enabled, tags, attributes, "primary"));
      if (hosts > 1 && db % 10 == 9) {
        String other = "h" + (db / 10 + 1) % hosts;
        builder.add(new NodeSpec(2, name, other, 1, true, Set.of(), attributes, "replica"));
      }
    }
    return Objects.requireNonNull(builder.build(NodeOrder.ORIGINAL).value());
  }

  @Test
  void nodesAreReadAsTheyWereWritten() {
    Config config = config();
    Topology nodes = tree(config, 1_000);
    lines.write(new CoreEvent.Began(config, nodes));
    CoreEvent.Began read = (CoreEvent.Began) read().get(0);
    assertThat(read.topology()).isEqualTo(nodes);
  }

  @Test
  void nodesWithLinesOfTheirOwnAreStillRead() {
    Config config = config();
    lines.write(new CoreEvent.Began(config, tree(config, 1)));
    Json change = written.remove();
    int slots = tree(config, 1).slots();
    written.clear();
    written.add(change);
    written.add(json("['node', 0, 'here', -1, '', true, [], {}, '']"));
    written.add(json("['node', 1, 'h0', 0, 'here', true, [], {}]"));
    for (int i = 2; i < slots; i++) {
      written.add(json("['node', 2, 'd" + i + "', 1, 'h0', true, ['t'], {'a': 1}, '']"));
    }
    CoreEvent.Began read = (CoreEvent.Began) read().get(0);
    assertThat(read.topology().slots()).isEqualTo(slots);
    assertThat(read.topology().tags(3)).containsExactly("t");
  }
}
