package io.espalier.server.ha;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.espalier.core.problem.Problem;
import io.espalier.server.app.ownership.LeadershipLease;
import io.espalier.server.zk.ZooKeeperLink;
import io.espalier.server.zk.ZooKeeperTarget;
import io.espalier.webui.fleet.SchedulerListListener;
import io.espalier.webui.fleet.poll.SchedulerAddress;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.curator.test.TestingServer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Against a real server of ZooKeeper. */
@Tag("slow")
@Timeout(120)
class GroupsWatchTest {
  private final Deque<AutoCloseable> open = new ArrayDeque<>();
  private final Heard heard = new Heard();
  private TestingServer server;

  /** What was heard last. */
  private static final class Heard implements SchedulerListListener {
    private volatile List<String> schedulers = List.of();
    private volatile List<Problem> problems = List.of();

    @Override
    public void follow(String source, List<SchedulerAddress> now) {
      schedulers = now.stream().map(one -> one.name() + " " + one.uri()).toList();
    }

    @Override
    public void complain(List<Problem> now) {
      problems = now;
    }

    void are(String... expected) {
      await()
          .atMost(Duration.ofSeconds(60))
          .untilAsserted(() -> assertThat(schedulers).containsExactly(expected));
    }
  }

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

  private ZooKeeperTarget target(String path) {
    return ZooKeeperTarget.parse(server.getConnectString() + path);
  }

  private ZooKeeperLink link(String path) throws IOException {
    ZooKeeperLink link = ZooKeeperLink.open(target(path));
    open.push(link);
    return link;
  }

  private ZooKeeperElection join(String path, String host) throws Exception {
    Candidate self = new Candidate(host + ":8080", "", host, 1, 2);
    ZooKeeperElection election =
        ZooKeeperElection.join(link(path), self, LeadershipLease.ofSystemClocks());
    open.push(election);
    return election;
  }

  private void follow(String path) throws IOException {
    open.push(GroupsWatch.follow(target(path), heard));
  }

  @Test
  void theLeadersOfGroupsAndPlainAddressesAreFollowed() throws Exception {
    ZooKeeperElection first = join("/fleet/east", "a");
    assertThat(first.awaitLeadership(20_000)).isTrue();
    ZooKeeperElection second = join("/fleet/east", "b");
    ZooKeeperLink writer = link("/fleet");
    writer.client().create().forPath("/fleet/west", text("c:8081"));

    follow("/fleet");
    heard.are("east http://a:8080", "west http://c:8081");
    first.close();
    assertThat(second.awaitLeadership(20_000)).isTrue();
    heard.are("east http://b:8080", "west http://c:8081");
    writer.client().setData().forPath("/fleet/west", text("https://d:8082"));
    heard.are("east http://b:8080", "west https://d:8082");
    writer.client().delete().forPath("/fleet/west");
    heard.are("east http://b:8080");
  }

  @Test
  void aPathMayBeAGroupItself() throws Exception {
    ZooKeeperElection only = join("/alone", "a");
    assertThat(only.awaitLeadership(20_000)).isTrue();
    follow("/alone");
    heard.are("alone http://a:8080");
    only.close();
    await().atMost(Duration.ofSeconds(60)).until(() -> !heard.problems.isEmpty());
    assertThat(heard.problems.get(0).message()).contains("no scheduler that serves HTTP");
  }

  @Test
  void aGroupThatNobodyLeadsAnyMoreStaysWithItsLastLeaderForADay() throws Exception {
    AtomicLong now = new AtomicLong(1_000);
    ZooKeeperElection only = join("/fleet/east", "a");
    assertThat(only.awaitLeadership(20_000)).isTrue();
    ZooKeeperLink writer = link("/fleet");
    open.push(GroupsWatch.follow(target("/fleet"), heard, () -> Instant.ofEpochMilli(now.get())));
    heard.are("east http://a:8080");
    only.close();
    await().atMost(Duration.ofSeconds(60)).until(() -> !heard.problems.isEmpty());
    assertThat(heard.problems.toString()).contains("east", "no scheduler that serves HTTP");
    assertThat(heard.schedulers).containsExactly("east http://a:8080");
    // As ZooKeeper does by itself with the empty containers of an election.
    writer.client().delete().deletingChildrenIfNeeded().forPath("/fleet/east");
    writer.client().create().forPath("/fleet/west", text("c:8081"));
    heard.are("west http://c:8081", "east http://a:8080");
    now.addAndGet(Duration.ofDays(1).toMillis());
    writer.client().create().forPath("/fleet/zone", text("d:8082"));
    heard.are("west http://c:8081", "zone http://d:8082", "east http://a:8080");
    now.incrementAndGet();
    writer.client().delete().forPath("/fleet/zone");
    heard.are("west http://c:8081");
  }

  @Test
  void whatIsNoAddressIsSaidAndLeavesTheOthers() throws Exception {
    ZooKeeperLink writer = link("/fleet");
    writer.client().create().creatingParentsIfNeeded().forPath("/fleet/good", text("a:1"));
    writer.client().create().forPath("/fleet/bad", text("nonsense here"));
    follow("/fleet");
    await().atMost(Duration.ofSeconds(60)).until(() -> !heard.problems.isEmpty());
    assertThat(heard.problems.toString()).contains("nonsense");
    heard.are("good http://a:1");
  }

  @Test
  void withoutAConnectionTheNewestStayAndChangesAreSeenAfterIt() throws Exception {
    ZooKeeperLink writer = link("/fleet");
    writer.client().create().creatingParentsIfNeeded().forPath("/fleet/one", text("a:1"));
    follow("/fleet");
    heard.are("one http://a:1");
    server.stop();
    await().until(() -> !writer.client().getZookeeperClient().isConnected());
    assertThat(heard.schedulers).containsExactly("one http://a:1");
    server.restart();
    await()
        .atMost(Duration.ofSeconds(60))
        .until(() -> writer.client().getZookeeperClient().isConnected());
    writer.client().create().forPath("/fleet/two", text("b:2"));
    heard.are("one http://a:1", "two http://b:2");
  }

  private static byte[] text(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
