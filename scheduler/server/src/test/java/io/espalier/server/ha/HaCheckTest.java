package io.espalier.server.ha;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import io.espalier.server.app.ownership.LeadershipLease;
import io.espalier.server.ha.HaCheck.Finding;
import io.espalier.server.ha.HaCheck.Level;
import io.espalier.server.security.ClientAccess;
import io.espalier.server.zk.ZooKeeperLink;
import io.espalier.server.zk.ZooKeeperTarget;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.apache.curator.test.TestingServer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Against a real server of ZooKeeper and an HTTP server in place of the leader. */
@Timeout(120)
class HaCheckTest {
  @Test
  void aLeaderThatRefusesTheRequestIsNoLeaderThatIsWell() throws Exception {
    HttpServer scheduler = serving(401, "{\"title\": \"Unauthorized\"}");
    try {
      assertThat(findings(address(scheduler)))
          .filteredOn(finding -> finding.about().equals("leader"))
          .singleElement()
          .satisfies(
              finding -> {
                assertThat(finding.level()).isEqualTo(Level.PROBLEM);
                assertThat(finding.message()).endsWith("refuses this request: give --token-file");
              });
    } finally {
      scheduler.stop(0);
    }
  }

  @Test
  void theProblemsOfTheLeaderAreSentences() throws Exception {
    HttpServer scheduler =
        serving(
            200,
            """
            {"epoch": 3, "time_ms": 5, "errors": [
              {"source": "workers", "message": "safe wait until 12:00:00", "since_ms": 7}]}
            """);
    try {
      assertThat(findings(address(scheduler)))
          .contains(new Finding(Level.PROBLEM, "leader", "workers: safe wait until 12:00:00"));
    } finally {
      scheduler.stop(0);
    }
  }

  @Test
  void aLeaderThatDoesNotAnswerIsNoStandby() throws Exception {
    HttpServer scheduler = serving(200, "{}");
    scheduler.stop(0);
    assertThat(findings(address(scheduler)))
        .noneMatch(finding -> finding.about().equals("standby"))
        .filteredOn(finding -> finding.message().contains("does not answer: "))
        .singleElement()
        .extracting(Finding::about)
        .isEqualTo("leader");
  }

  private static String address(HttpServer scheduler) {
    return "127.0.0.1:" + scheduler.getAddress().getPort();
  }

  /** Starts an HTTP server that gives every request the same answer. */
  private static HttpServer serving(int status, String answer) throws IOException {
    HttpServer scheduler =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    scheduler.createContext(
        "/",
        exchange -> {
          byte[] body = answer.getBytes(StandardCharsets.UTF_8);
          exchange.sendResponseHeaders(status, body.length);
          exchange.getResponseBody().write(body);
          exchange.close();
        });
    scheduler.start();
    return scheduler;
  }

  /** Checks a group whose leader has this address and is the only candidate. */
  private static List<Finding> findings(String http) throws Exception {
    System.setProperty("zookeeper.admin.enableServer", "false");
    try (TestingServer ensemble = new TestingServer(true)) {
      ZooKeeperTarget group = ZooKeeperTarget.parse(ensemble.getConnectString() + "/group");
      List<Finding> findings = new ArrayList<>();
      try (ZooKeeperLink link = ZooKeeperLink.open(group);
          ZooKeeperElection election =
              ZooKeeperElection.join(
                  link,
                  new Candidate(http, "127.0.0.1:6789", "a", 1, 2),
                  LeadershipLease.ofSystemClocks())) {
        assertThat(election.awaitLeadership(20_000)).isTrue();
        new HaCheck(ClientAccess.none(), findings::add).look(group);
      }
      return findings;
    }
  }
}
