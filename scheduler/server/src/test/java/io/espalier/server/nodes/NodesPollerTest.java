package io.espalier.server.nodes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.espalier.core.config.NodeOrder;
import io.espalier.core.config.Settings;
import io.espalier.core.problem.Problem;
import io.espalier.core.problem.Result;
import io.espalier.core.topology.NodeSpec;
import io.espalier.core.topology.Topology;
import io.espalier.core.topology.TopologyBuilder;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.slf4j.LoggerFactory;

@Timeout(60)
class NodesPollerTest {
  private static final Settings A = SettingsText.nodes("'levels': ['host'], 'node_sources': []");
  private static final Settings B =
      SettingsText.nodes("'levels': ['host'], 'node_sources': [{'source': 'empty'}]");
  private static final Instant T0 = Instant.ofEpochSecond(1_000);
  private static final Duration LONG = Duration.ofHours(1);

  private final List<NodeSnapshot> heard = Collections.synchronizedList(new ArrayList<>());
  private final AtomicInteger fetches = new AtomicInteger();
  private volatile NodeFetch answer = (settings, now) -> tree(settings, "h1");

  private final NodeFetch fetcher =
      (settings, now) -> {
        try {
          return answer.fetch(settings, now);
        } finally {
          fetches.incrementAndGet();
        }
      };

  private NodesPoller poller(Duration refresh, Duration retry) {
    return new NodesPoller(fetcher, refresh, retry, Instant::now, heard::add);
  }

  private NodesPoller poller() {
    return poller(LONG, LONG);
  }

  private static Result<Topology> tree(Settings settings, String... hosts) {
    TopologyBuilder builder = new TopologyBuilder(settings.levels(), "here");
    for (String host : hosts) {
      builder.add(NodeSpec.child(1, host, null));
    }
    return builder.build(NodeOrder.ORIGINAL);
  }

  private static Result<Topology> failure(String message) {
    return new Result<>(null, List.of(Problem.error("nodes", message)));
  }

  @Test
  void withoutSettingsThereIsNothingToPoll() throws Exception {
    try (NodesPoller poller = poller()) {
      assertThat(poller.poll(T0)).isFalse();
      assertThat(fetches).hasValue(0);
      assertThat(poller.state()).isEqualTo(NodesState.NONE);
    }
  }

  @Test
  void aGoodFetchIsPublishedWithItsHashAndTime() throws Exception {
    try (NodesPoller poller = poller()) {
      poller.settings(A);
      assertThat(poller.poll(T0)).isTrue();
      assertThat(heard).hasSize(1);
      NodeSnapshot snapshot = heard.get(0);
      assertThat(snapshot.topology().size()).isEqualTo(2);
      assertThat(snapshot.nodesHash()).isEqualTo(A.nodesHash());
      assertThat(snapshot.fetchedAt()).isEqualTo(T0);
      assertThat(poller.state()).isEqualTo(new NodesState(snapshot, T0, false, List.of()));
    }
  }

  @Test
  void theSameNodesAgainOnlyMakeTheStateYounger() throws Exception {
    try (NodesPoller poller = poller()) {
      poller.settings(A);
      poller.poll(T0);
      assertThat(poller.poll(T0.plusSeconds(300))).isFalse();
      assertThat(heard).hasSize(1);
      assertThat(poller.state().snapshot()).isSameAs(heard.get(0));
      assertThat(poller.state().confirmedAt()).isEqualTo(T0.plusSeconds(300));
      assertThat(poller.state().age(T0.plusSeconds(310))).isEqualTo(Duration.ofSeconds(10));

      answer = (settings, now) -> tree(settings, "h1", "h2");
      assertThat(poller.poll(T0.plusSeconds(600))).isTrue();
      assertThat(heard).hasSize(2);
    }
  }

  @Test
  void theSameNodesForOtherSettingsAreANewSnapshotOfTheSameTree() throws Exception {
    try (NodesPoller poller = poller()) {
      poller.settings(A);
      poller.poll(T0);
      poller.settings(B);
      assertThat(poller.poll(T0)).isTrue();
      assertThat(heard.get(1).nodesHash()).isEqualTo(B.nodesHash()).isNotEqualTo(A.nodesHash());
      assertThat(heard.get(1).topology()).isSameAs(heard.get(0).topology());
    }
  }

  @Test
  void aFailedFetchKeepsTheLastGoodNodesAndShowsItsProblems() throws Exception {
    try (NodesPoller poller = poller()) {
      poller.settings(A);
      poller.poll(T0);
      answer = (settings, now) -> failure("it is away");
      assertThat(poller.poll(T0.plusSeconds(300))).isFalse();
      assertThat(heard).hasSize(1);
      NodesState state = poller.state();
      assertThat(state.snapshot()).isSameAs(heard.get(0));
      assertThat(state.failing()).isTrue();
      assertThat(state.confirmedAt()).isEqualTo(T0);
      assertThat(state.problems()).containsExactly(Problem.error("nodes", "it is away"));

      answer =
          (settings, now) -> {
            throw new IllegalStateException("a defect");
          };
      assertThat(poller.poll(T0.plusSeconds(330))).isFalse();
      assertThat(poller.state().problems().get(0).message()).contains("a defect");
      assertThat(poller.state().snapshot()).isSameAs(heard.get(0));

      answer = (settings, now) -> tree(settings, "h1");
      assertThat(poller.poll(T0.plusSeconds(360))).isFalse();
      assertThat(poller.state().failing()).isFalse();
      assertThat(poller.state().problems()).isEmpty();
    }
  }

  @Test
  void aFailureThatLastsIsLoggedOnceAMinute() throws Exception {
    ListAppender<ILoggingEvent> log = new ListAppender<>();
    log.start();
    Logger logger = (Logger) LoggerFactory.getLogger(NodesPoller.class);
    logger.addAppender(log);
    try (NodesPoller poller = poller()) {
      poller.settings(A);
      poller.poll(T0);
      log.list.clear();
      answer = (settings, now) -> failure("it is away");
      for (int i = 0; i < 240; i++) {
        poller.poll(T0.plusMillis(500L * i));
      }
      assertThat(log.list)
          .extracting(ILoggingEvent::getLevel)
          .containsExactly(Level.ERROR, Level.WARN);
      answer = (settings, now) -> failure("it is away for another reason");
      poller.poll(T0.plusSeconds(121));
      assertThat(log.list)
          .hasSize(3)
          .last()
          .extracting(ILoggingEvent::getLevel)
          .isEqualTo(Level.ERROR);
    } finally {
      logger.detachAppender(log);
    }
  }

  @Test
  void aFirstFetchThatFailsLeavesNothing() throws Exception {
    answer = (settings, now) -> failure("it is away");
    try (NodesPoller poller = poller()) {
      poller.settings(A);
      assertThat(poller.poll(T0)).isFalse();
      assertThat(poller.state().snapshot()).isNull();
      assertThat(poller.state().failing()).isTrue();
    }
  }

  @Test
  void itsThreadFetchesAtOnceAndThenPeriodically() {
    try (NodesPoller poller = poller(Duration.ofMillis(20), LONG)) {
      poller.start();
      poller.settings(A);
      await().until(() -> fetches.get() >= 3);
      assertThat(heard).hasSize(1);
    }
  }

  @Test
  void afterAFailureItTriesAgainSooner() {
    answer = (settings, now) -> failure("it is away");
    try (NodesPoller poller = poller(LONG, Duration.ofMillis(20))) {
      poller.settings(A);
      poller.start();
      await().until(() -> fetches.get() >= 3);
      answer = (settings, now) -> tree(settings, "h1");
      await().until(() -> heard.size() == 1);
    }
  }

  @Test
  void otherNodesInTheSettingsAreFetchedAtOnceAndTheSameAreNot() {
    try (NodesPoller poller = poller()) {
      poller.settings(A);
      poller.start();
      await().until(() -> heard.size() == 1);
      poller.settings(A);
      poller.settings(B);
      await().until(() -> heard.size() == 2);
      assertThat(heard.get(1).nodesHash()).isEqualTo(B.nodesHash());
      assertThat(fetches).hasValue(2);
    }
  }

  @Test
  void aFetchForSettingsThatAreNoMoreIsInterrupted() {
    CountDownLatch hanging = new CountDownLatch(1);
    answer =
        (settings, now) -> {
          if (settings.nodesHash().equals(A.nodesHash())) {
            hanging.countDown();
            new CountDownLatch(1).await();
          }
          return tree(settings, "h1");
        };
    try (NodesPoller poller = poller()) {
      poller.settings(A);
      poller.start();
      await().until(() -> hanging.getCount() == 0);
      poller.settings(B);
      await().until(() -> heard.size() == 1);
      assertThat(heard.get(0).nodesHash()).isEqualTo(B.nodesHash());
      assertThat(poller.state().failing()).isFalse();
    }
  }

  @Test
  void anInterruptedPollByHandSaysSoAndChangesNothing() {
    answer =
        (settings, now) -> {
          new CountDownLatch(1).await();
          return tree(settings);
        };
    try (NodesPoller poller = poller()) {
      poller.settings(A);
      Thread.currentThread().interrupt();
      assertThatThrownBy(() -> poller.poll(T0)).isInstanceOf(InterruptedException.class);
      assertThat(Thread.interrupted()).isFalse();
      assertThat(poller.state()).isEqualTo(NodesState.NONE);
    }
  }

  @Test
  void aListenerThatThrowsIsToldAgainAndDoesNotEndThePolling() {
    AtomicInteger calls = new AtomicInteger();
    try (NodesPoller poller =
        new NodesPoller(
            fetcher,
            LONG,
            Duration.ofMillis(10),
            Instant::now,
            snapshot -> {
              if (calls.incrementAndGet() < 3) {
                throw new IllegalStateException("a listener's defect");
              }
              heard.add(snapshot);
            })) {
      poller.settings(A);
      poller.start();
      await().until(() -> heard.size() == 1);
      assertThat(calls).hasValue(3);
      assertThat(poller.state().snapshot()).isSameAs(heard.get(0));
    }
  }

  @Test
  void closingInterruptsAFetchAndEndsTheThread() {
    CountDownLatch hanging = new CountDownLatch(1);
    CountDownLatch interrupted = new CountDownLatch(1);
    answer =
        (settings, now) -> {
          hanging.countDown();
          try {
            new CountDownLatch(1).await();
          } catch (InterruptedException e) {
            interrupted.countDown();
            throw e;
          }
          return tree(settings);
        };
    NodesPoller poller = poller();
    poller.settings(A);
    poller.start();
    await().until(() -> hanging.getCount() == 0);
    poller.close();
    assertThat(interrupted.getCount()).isZero();
    assertThatThrownBy(() -> poller.poll(T0)).isInstanceOf(InterruptedException.class);
  }
}
