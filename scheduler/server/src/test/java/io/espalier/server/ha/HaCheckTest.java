package io.espalier.server.ha;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import io.espalier.server.app.ownership.LeadershipLease;
import io.espalier.server.ha.HaCheck.Finding;
import io.espalier.server.ha.HaCheck.Level;
import io.espalier.server.security.ClientAccess;
import io.espalier.server.zk.ZooKeeperLink;
import io.espalier.server.zk.ZooKeeperTarget;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.apache.curator.test.TestingServer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Against a real server of ZooKeeper and a scheduler that refuses every request. */
@Timeout(120)
class HaCheckTest {
  @Test
  void aLeaderThatRefusesTheRequestIsNoLeaderThatIsWell() throws Exception {
    System.setProperty("zookeeper.admin.enableServer", "false");
    HttpServer scheduler =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    scheduler.createContext(
        "/",
        exchange -> {
          byte[] body = "{\"title\": \"Unauthorized\"}".getBytes(StandardCharsets.UTF_8);
          exchange.sendResponseHeaders(401, body.length);
          exchange.getResponseBody().write(body);
          exchange.close();
        });
    scheduler.start();
    String http = "127.0.0.1:" + scheduler.getAddress().getPort();
    try (TestingServer ensemble = new TestingServer(true)) {
      ZooKeeperTarget group = ZooKeeperTarget.parse(ensemble.getConnectString() + "/group");
      List<Finding> findings = new ArrayList<>();
      try (ZooKeeperLink link = ZooKeeperLink.open(group);
          Election election =
              Election.join(
                  link,
                  new Candidate(http, "127.0.0.1:6789", "a", 1, 2),
                  LeadershipLease.ofSystemClocks())) {
        assertThat(election.awaitLeadership(20_000)).isTrue();

        new HaCheck(ClientAccess.none(), findings::add).look(group);
      }
      assertThat(findings)
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
}
