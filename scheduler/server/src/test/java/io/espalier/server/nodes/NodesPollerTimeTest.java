package io.espalier.server.nodes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.espalier.core.config.NodeOrder;
import io.espalier.core.config.Settings;
import io.espalier.core.problem.Problem;
import io.espalier.core.problem.Result;
import io.espalier.core.topology.NodeSourceContext;
import io.espalier.core.topology.NodeSpec;
import io.espalier.core.topology.Topology;
import io.espalier.core.topology.TopologyBuilder;
import io.espalier.nodes.AddTimeNodes;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Nodes that come and go with time, by a clock that is set by hand. */
@Timeout(60)
class NodesPollerTimeTest {
  private static final Settings SETTINGS =
      SettingsText.nodes(
          "'levels': ['time'], 'node_sources': [{'source': 'add_time', 'prefs': {'parent_level':"
              + " 'instance', 'format': '{time}', 'schedule': [{'cron': {'epoch': {'period': 60}},"
              + " 'lifetime': 90, 'enabled_lifetime': 45}]}}]");
  private static final Instant T0 = Instant.ofEpochSecond(1_200_000);
  private static final Duration LONG = Duration.ofHours(1);

  private final List<NodeSnapshot> heard = Collections.synchronizedList(new ArrayList<>());
  private volatile Instant now = T0;
  private final NodeSourceCoordinator sources =
      new NodeSourceCoordinator(
          new NodeFetcher(
              Map.of("add_time", new AddTimeNodes.Type()), "here", new NodeSourceContext("", "")),
          LONG,
          LONG,
          () -> now);

  private NodesPoller timed() {
    return new NodesPoller(sources, LONG, LONG, () -> now, heard::add);
  }

  private List<String> nodes(int snapshot) {
    Topology t = heard.get(snapshot).topology();
    List<String> names = new ArrayList<>();
    for (int slot = 1; slot < t.slots(); slot++) {
      names.add(t.name(t.node(slot)) + (t.enabled(slot) ? "" : "-"));
    }
    Collections.sort(names);
    return names;
  }

  @Test
  void theTreeChangesAtExactlyTheSecondsOfItsSchedule() throws Exception {
    try (NodesPoller poller = timed()) {
      poller.settings(SETTINGS);
      assertThat(sources.nextChange()).isEmpty();
      poller.poll(T0.plusMillis(700));
      assertThat(nodes(0)).containsExactly("1199940-", "1200000");
      assertThat(sources.nextChange()).contains(T0.plusSeconds(30));
      List<List<String>> trees =
          List.of(
              List.of("1200000"),
              List.of("1200000-"),
              List.of("1200000-", "1200060"),
              List.of("1200060"));
      for (int i = 0; i < trees.size(); i++) {
        Instant change = sources.nextChange().orElseThrow();
        assertThat(poller.tick(change.minusMillis(1))).isFalse();
        assertThat(poller.tick(change)).isTrue();
        assertThat(nodes(i + 1)).isEqualTo(trees.get(i));
        assertThat(heard.get(i + 1).fetchedAt()).isEqualTo(change);
      }
      assertThat(heard.get(1).fetchedAt()).isEqualTo(T0.plusSeconds(30));
      assertThat(heard.get(2).fetchedAt()).isEqualTo(T0.plusSeconds(45));
      assertThat(heard.get(3).fetchedAt()).isEqualTo(T0.plusSeconds(60));
      assertThat(heard.get(4).fetchedAt()).isEqualTo(T0.plusSeconds(90));
    }
  }

  @Test
  void itsThreadWaitsForTheClock() {
    try (NodesPoller poller = timed()) {
      poller.settings(SETTINGS);
      poller.start();
      await().until(() -> heard.size() == 1);
      now = T0.plusSeconds(30);
      await().until(() -> heard.size() == 2);
      now = T0.plusSeconds(44).plusMillis(999);
      await().until(() -> sources.nextChange().equals(Optional.of(T0.plusSeconds(45))));
      assertThat(heard).hasSize(2);
      now = T0.plusSeconds(45);
      await().until(() -> heard.size() == 3);
      assertThat(heard.get(2).fetchedAt()).isEqualTo(T0.plusSeconds(45));
      // A clock that leaps, after a suspension, finds the tree of its time.
      now = T0.plusSeconds(100_000);
      await().until(() -> heard.size() == 4);
      assertThat(nodes(3)).containsExactly("1299960");
    }
  }

  /** A tree whose only node is named like its second, and a fetch that can be held up. */
  private static final class Slow implements NodeFetch {
    private final CountDownLatch go = new CountDownLatch(1);
    private final CountDownLatch waiting = new CountDownLatch(1);
    private volatile boolean holdUp;
    private volatile boolean broken;

    private static Result<Topology> tree(Settings settings, Instant at, List<Problem> problems) {
      TopologyBuilder builder = new TopologyBuilder(settings.levels(), "here");
      builder.add(NodeSpec.child(1, "t" + at.getEpochSecond(), null));
      return new Result<>(builder.build(NodeOrder.ORIGINAL).value(), problems);
    }

    @Override
    public Result<Topology> fetch(Settings settings, Instant at) throws InterruptedException {
      if (holdUp) {
        waiting.countDown();
        go.await();
      }
      return tree(settings, at, broken ? List.of(Problem.error("there", "it is away")) : List.of());
    }

    @Override
    public @Nullable Result<Topology> advance(Settings settings, Instant at) {
      return tree(settings, at, List.of());
    }

    @Override
    public Optional<Instant> nextChange() {
      return Optional.of(T0.plusSeconds(10));
    }
  }

  @Test
  void aSlowSourceDoesNotHoldTimeUpAndTimeDoesNotGoBackwards() throws Exception {
    Slow slow = new Slow();
    try (NodesPoller poller = new NodesPoller(slow, LONG, LONG, () -> now, heard::add)) {
      poller.settings(SETTINGS);
      poller.poll(T0);
      slow.holdUp = true;
      Thread fetching =
          new Thread(
              () -> {
                try {
                  boolean ignored = poller.poll(T0.plusSeconds(1));
                } catch (InterruptedException e) {
                  Thread.currentThread().interrupt();
                }
              });
      fetching.start();
      slow.waiting.await();
      assertThat(poller.tick(T0.plusSeconds(10))).isTrue();
      assertThat(nodes(1)).containsExactly("t1200010");
      slow.go.countDown();
      fetching.join();
      assertThat(heard).hasSize(2);
      assertThat(poller.tick(T0.plusSeconds(9))).as("an older instant").isFalse();
    }
  }

  @Test
  void aTreeWithErrorsIsInForceAndItsAgeIsThatOfTheLastGoodOne() throws Exception {
    Slow slow = new Slow();
    try (NodesPoller poller = new NodesPoller(slow, LONG, LONG, () -> now, heard::add)) {
      poller.settings(SETTINGS);
      poller.poll(T0);
      slow.broken = true;
      assertThat(poller.poll(T0.plusSeconds(5))).isTrue();
      NodesState state = poller.state();
      assertThat(state.failing()).isTrue();
      assertThat(state.confirmedAt()).isEqualTo(T0);
      assertThat(nodes(1)).containsExactly("t1200005");
      assertThat(poller.tick(T0.plusSeconds(10))).isTrue();
      assertThat(poller.state().failing()).isTrue();
      assertThat(poller.state().problems()).isEqualTo(state.problems());
    }
  }
}
