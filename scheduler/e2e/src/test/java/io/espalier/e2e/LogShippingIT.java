package io.espalier.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The output of tasks arrives at a real syslog server. */
class LogShippingIT {
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final Path RSYSLOGD = Path.of("/usr/sbin/rsyslogd");

  private static final String CONFIG =
      """
      {"bistro_settings": {
        "nodes": {"levels": ["db"],
          "node_sources": [{"source": "manual", "prefs": {"d1": [], "d2": [], "d3": []}}]},
        "resources": {}},
       "bistro_job->copy": {"owner": "e2e", "command": ["./copy.sh"]}}
      """;

  @Test
  void a_syslog_server_has_each_line_once_after_the_run(@TempDir Path directory) throws Exception {
    assumeTrue(Files.isExecutable(RSYSLOGD), "there is no " + RSYSLOGD + " (package rsyslog)");
    Path received = directory.resolve("received.jsonl");
    int port = freePort();
    Process server = rsyslogd(directory, port, received);
    try {
      await().atMost(PATIENCE).until(() -> listens(port));
      Site site =
          new Site(directory)
              .task("copy.sh", "echo \"row of $1: \\\"\\\\ \u00fc\"\necho warned >&2")
              .config(CONFIG);
      assertThat(site.run("--ship-logs", "syslog://127.0.0.1:" + port).code()).isZero();

      await()
          .atMost(PATIENCE)
          .untilAsserted(
              () -> {
                List<String> lines = Files.readAllLines(received);
                for (String node : List.of("d1", "d2", "d3")) {
                  String stdout = "\"text\":\"row of " + node + ": \\\"\\\\ \u00fc\"}";
                  assertThat(lines).filteredOn(line -> line.contains(stdout)).hasSize(1);
                }
                assertThat(lines)
                    .filteredOn(line -> line.contains("\"stream\":\"stderr\""))
                    .allMatch(line -> line.endsWith("\"text\":\"warned\"}"))
                    .hasSize(3);
              });
    } finally {
      server.destroy();
      server.waitFor();
    }
  }

  private static Process rsyslogd(Path directory, int port, Path received) throws Exception {
    Path config =
        Files.writeString(
            directory.resolve("rsyslog.conf"),
            """
            module(load="imtcp")
            template(name="message" type="string" string="%%msg%%\\n")
            input(type="imtcp" address="127.0.0.1" port="%d")
            action(type="omfile" file="%s" template="message")
            """
                .formatted(port, received));
    return new ProcessBuilder(
            RSYSLOGD.toString(),
            "-n",
            "-f",
            config.toString(),
            "-i",
            directory.resolve("rsyslog.pid").toString())
        .redirectErrorStream(true)
        .redirectOutput(directory.resolve("rsyslog.log").toFile())
        .start();
  }

  private static boolean listens(int port) {
    try (Socket connected = new Socket(InetAddress.getLoopbackAddress(), port)) {
      return connected.isConnected();
    } catch (IOException e) {
      return false;
    }
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }
}
