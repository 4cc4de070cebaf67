package io.espalier.server.ha;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.espalier.server.app.ownership.LeadershipLease;
import io.espalier.server.zk.ZooKeeperException;
import io.espalier.server.zk.ZooKeeperLink;
import io.espalier.server.zk.ZooKeeperTarget;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.test.TestingServer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Against a real server of ZooKeeper. */
@Tag("slow")
@Timeout(120)
class ZooKeeperElectionTest {
  private static final Candidate A = candidate("a");
  private static final Candidate B = candidate("b");

  private final Deque<AutoCloseable> open = new ArrayDeque<>();
  private TestingServer server;

  @BeforeEach
  void start() throws Exception {
    System.setProperty("zookeeper.admin.enableServer", "false");
    server = new TestingServer(true);
  }

  @AfterEach
  void stop() throws Exception {
    while (!open.isEmpty()) {
      open.pop().close();
    }
    server.close();
  }

  private static Candidate candidate(String name) {
    return new Candidate(name + ":8080", name + ":6789", name, 1, 2);
  }

  private ZooKeeperTarget target() {
    return ZooKeeperTarget.parse(server.getConnectString() + "/group/of/one");
  }

  private ZooKeeperLink link() throws IOException {
    ZooKeeperLink link = ZooKeeperLink.open(target());
    open.push(link);
    return link;
  }

  private ZooKeeperElection join(ZooKeeperLink link, Candidate self) throws IOException {
    ZooKeeperElection election =
        ZooKeeperElection.join(link, self, LeadershipLease.ofSystemClocks());
    open.push(election);
    return election;
  }

  private static void expireSession(ZooKeeperLink link) throws Exception {
    link.client().getZookeeperClient().getZooKeeper().getTestable().injectSessionExpiration();
  }

  @Test
  void theFirstLeadsAndTheSecondFollowsWhenItLeaves() throws Exception {
    ZooKeeperElection first = join(link(), A);
    assertThat(first.awaitLeadership(20_000)).isTrue();
    ZooKeeperElection second = join(link(), B);
    assertThat(second.awaitLeadership(300)).isFalse();
    assertThat(first.remainingMillis()).isPositive();

    first.close();
    assertThat(first.leads()).isFalse();
    assertThat(first.isLost()).isTrue();
    assertThat(second.awaitLeadership(20_000)).isTrue();
  }

  @Test
  void anExpiredSessionEndsLeadershipAtOnceAndAnotherLeads() throws Exception {
    ZooKeeperLink link = link();
    ZooKeeperElection first = join(link, A);
    assertThat(first.awaitLeadership(20_000)).isTrue();
    ZooKeeperElection second = join(link(), B);

    expireSession(link);
    await().atMost(Duration.ofSeconds(20)).until(first::isLost);
    assertThat(first.remainingMillis()).isLessThanOrEqualTo(0);
    assertThat(second.awaitLeadership(20_000)).isTrue();
  }

  @Test
  void whoeverHasLostItsSessionLeadsOnlyAsACandidateAnew() throws Exception {
    ZooKeeperLink link = link();
    ZooKeeperElection election = join(link, A);
    assertThat(election.awaitLeadership(20_000)).isTrue();
    String queue = ZooKeeperPaths.leader(link.target().path());
    List<String> before = link.client().getChildren().forPath(queue);

    expireSession(link);
    // The latch is first of the queue again, with nobody else in it.
    await()
        .atMost(Duration.ofSeconds(20))
        .until(
            () -> {
              List<String> now = link.client().getChildren().forPath(queue);
              return now.size() == 1 && !now.equals(before);
            });
    assertThat(election.awaitLeadership(1_500)).isFalse();
    assertThat(election.isLost()).isTrue();
    assertThat(election.isOver()).isTrue();

    election.close();
    assertThat(join(link, A).awaitLeadership(20_000)).isTrue();
  }

  @Test
  void withoutItsZnodeALeaderCannotProveToLead() throws Exception {
    ZooKeeperLink link = link();
    ZooKeeperElection election = join(link, A);
    assertThat(election.awaitLeadership(20_000)).isTrue();

    String queue = ZooKeeperPaths.leader(link.target().path());
    for (String place : link.client().getChildren().forPath(queue)) {
      link.client().delete().forPath(queue + "/" + place);
    }
    await().atMost(Duration.ofSeconds(20)).until(election::isLost);
    assertThat(election.remainingMillis()).isLessThanOrEqualTo(0);
    assertThat(election.problem()).hasValueSatisfying(p -> assertThat(p).contains("is gone"));
  }

  @Test
  void aServerThatIsAwayForAMomentCostsNothing() throws Exception {
    ZooKeeperLink link = link();
    ZooKeeperElection election = join(link, A);
    assertThat(election.awaitLeadership(20_000)).isTrue();

    server.restart();
    await()
        .atMost(Duration.ofSeconds(20))
        .untilAsserted(
            () -> {
              assertThat(link.problem()).isEmpty();
              assertThat(election.problem()).isEmpty();
              assertThat(election.leads()).isTrue();
            });
    assertThat(election.isLost()).isFalse();
  }

  @Test
  void withoutServersCertaintyEndsBeforeTheSessionDoes() throws Exception {
    ZooKeeperLink link = link();
    ZooKeeperElection election = join(link, A);
    assertThat(election.awaitLeadership(20_000)).isTrue();

    server.stop();
    await().atMost(Duration.ofSeconds(30)).until(() -> election.remainingMillis() <= 0);
    assertThat(election.leads()).isFalse();
    assertThat(election.problem())
        .hasValueSatisfying(p -> assertThat(p).contains("no task is started"));
    assertThat(link.problem())
        .hasValueSatisfying(p -> assertThat(p).contains("no connection to ZooKeeper"));
    await().atMost(Duration.ofSeconds(30)).until(election::isLost);
  }

  @Test
  void aFrozenLeaderIsNoLongerCertainWhenItWakesUp() throws Exception {
    AtomicLong jump = new AtomicLong();
    LeadershipLease validity =
        new LeadershipLease(
            () -> System.nanoTime() / 1_000_000 + jump.get(), () -> 0, System::currentTimeMillis);
    ZooKeeperElection election = ZooKeeperElection.join(link(), A, validity);
    open.push(election);
    assertThat(election.awaitLeadership(20_000)).isTrue();
    jump.set(60_000);
    assertThat(validity.remainingMillis()).isLessThanOrEqualTo(0);
    // Nobody else was there: the next proof makes it certain again.
    assertThat(election.awaitLeadership(20_000)).isTrue();
  }

  @Test
  void watchersSeeWhoLeadsAndWhenItBeginsToAnswer() throws Exception {
    List<List<Candidate>> news = new CopyOnWriteArrayList<>();
    LeaderWatch watch = LeaderWatch.start(link(), news::add);
    open.push(watch);
    ZooKeeperElection first = join(link(), A);
    assertThat(first.awaitLeadership(20_000)).isTrue();
    await().atMost(Duration.ofSeconds(20)).until(() -> watch.leader().equals(Optional.of(A)));

    int before = news.size();
    first.opened();
    await().atMost(Duration.ofSeconds(20)).until(() -> news.size() > before);

    ZooKeeperElection second = join(link(), B);
    await().atMost(Duration.ofSeconds(20)).until(() -> watch.candidates().equals(List.of(A, B)));
    first.close();
    await().atMost(Duration.ofSeconds(20)).until(() -> watch.leader().equals(Optional.of(B)));
    assertThat(second.awaitLeadership(20_000)).isTrue();
  }

  @Test
  void aWatchOutlivesItsSession() throws Exception {
    ZooKeeperLink link = link();
    LeaderWatch watch = LeaderWatch.start(link, news -> {});
    open.push(watch);
    ZooKeeperElection first = join(link(), A);
    await().atMost(Duration.ofSeconds(20)).until(() -> watch.leader().equals(Optional.of(A)));
    expireSession(link);
    first.close();
    ZooKeeperElection second = join(link(), B);
    await().atMost(Duration.ofSeconds(20)).until(() -> watch.leader().equals(Optional.of(B)));
    assertThat(second.awaitLeadership(20_000)).isTrue();
  }

  @Test
  void clientsFindTheLeader() throws Exception {
    ZooKeeperElection first = join(link(), A);
    assertThat(first.awaitLeadership(20_000)).isTrue();
    assertThat(LeaderFinder.http(target())).isEqualTo("http://a:8080");
  }

  @Test
  void rightsThatAreMissingAreNamed(@TempDir Path directory) throws Exception {
    Path account = directory.resolve("account");
    Files.writeString(account, "digest espalier:s3cret\n");
    ZooKeeperLink owner = ZooKeeperLink.open(target().withAuthFile(Optional.of(account)));
    open.push(owner);
    ZooKeeperElection election = join(owner, A);
    assertThat(election.awaitLeadership(20_000)).isTrue();

    assertThatThrownBy(() -> join(link(), B))
        .isInstanceOf(ZooKeeperException.class)
        .hasMessageContaining("no rights there (ACL)")
        .hasMessageNotContaining("s3cret");
    assertThatThrownBy(() -> LeaderWatch.read(link()))
        .isInstanceOf(ZooKeeperException.class)
        .hasMessageContaining("--zookeeper-auth");
  }

  @Test
  void anAccountThatIsNoneIsRefused(@TempDir Path directory) throws Exception {
    Path account = directory.resolve("account");
    Files.writeString(account, "nonsense");
    assertThatThrownBy(
            () -> ZooKeeperLink.open(target().withAuthFile(Optional.of(account))).close())
        .isInstanceOf(IOException.class)
        .hasMessageContaining("does not hold a scheme and an account");
  }

  @Test
  void allCandidatesOfAGroupShareOneStore() throws Exception {
    ZooKeeperLink link = link();
    SharedStore.require(link, "sqlite here:/data");
    SharedStore.require(link, "sqlite here:/data");
    assertThatThrownBy(() -> SharedStore.require(link, "sqlite there:/data"))
        .isInstanceOf(ZooKeeperException.class)
        .hasMessageContaining("share the status store \"sqlite here:/data\"");
  }

  @Test
  void zookeeperHoldsOnlyWhatElectionAndDiscoveryNeed() throws Exception {
    ZooKeeperLink link = link();
    ZooKeeperElection election = join(link, A);
    assertThat(election.awaitLeadership(20_000)).isTrue();
    CuratorFramework client = link.client();
    assertThat(client.getChildren().forPath(link.target().path()))
        .containsExactlyInAnyOrder("leader", "proof", "opened");
    assertThat(new String(client.getData().forPath("/group/of/one/proof"), StandardCharsets.UTF_8))
        .isEqualTo(A.toJson());
  }
}
