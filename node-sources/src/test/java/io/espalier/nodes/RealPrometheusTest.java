package io.espalier.nodes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.sun.net.httpserver.HttpServer;
import io.espalier.core.config.Levels;
import io.espalier.core.config.NodeSourceSpec;
import io.espalier.core.json.Json;
import io.espalier.core.topology.NodeSource;
import io.espalier.core.topology.NodeSourceContext;
import io.espalier.core.topology.NodeSourceException;
import io.espalier.core.topology.NodeSpec;
import io.espalier.testkit.nodes.NodeRecorder;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** {@code prometheus} against a real Prometheus, where it is installed. */
@Timeout(120)
@SuppressWarnings("NullAway.Init")
class RealPrometheusTest {
  private static final Path PROMETHEUS = Path.of("/usr/bin/prometheus");
  private static final Levels HOSTS = Levels.of(List.of("host"));

  @TempDir private Path directory;
  private HttpServer exporter;
  private Process prometheus;
  private int port;

  @BeforeEach
  void start() throws IOException {
    assumeTrue(Files.isExecutable(PROMETHEUS), "there is no " + PROMETHEUS);
    exporter = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    byte[] metrics =
        "replica_lag_seconds{host=\"h1\"} 7.5\nreplica_lag_seconds{host=\"h2\"} 0\n"
            .getBytes(StandardCharsets.UTF_8);
    exporter.createContext(
        "/metrics",
        exchange -> {
          try (exchange) {
            exchange.sendResponseHeaders(200, metrics.length);
            exchange.getResponseBody().write(metrics);
          }
        });
    exporter.start();
    try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      port = free.getLocalPort();
    }
    Files.writeString(
        directory.resolve("prometheus.yml"),
        """
        scrape_configs:
          - job_name: db
            scrape_interval: 1s
            static_configs: [{targets: ["127.0.0.1:%d"]}]
        """
            .formatted(exporter.getAddress().getPort()));
    prometheus =
        new ProcessBuilder(
                PROMETHEUS.toString(),
                "--config.file=" + directory.resolve("prometheus.yml"),
                "--storage.tsdb.path=" + directory.resolve("data"),
                "--web.listen-address=127.0.0.1:" + port)
            .redirectErrorStream(true)
            .redirectOutput(directory.resolve("log").toFile())
            .start();
  }

  @AfterEach
  void stop() throws InterruptedException {
    if (exporter != null) {
      exporter.stop(0);
    }
    if (prometheus != null) {
      prometheus.destroy();
      if (!prometheus.waitFor(30, TimeUnit.SECONDS)) {
        prometheus.destroyForcibly();
      }
    }
  }

  private Map<String, String> values(String query, String label) throws Exception {
    Json.Obj prefs =
        Json.object()
            .put("url", "http://127.0.0.1:" + port)
            .put("query", query)
            .put("label", label)
            .build();
    NodeSource source =
        Objects.requireNonNull(
            new PrometheusNodes.Type()
                .create(
                    new NodeSourceSpec("prometheus", prefs, "probes.lag"),
                    HOSTS,
                    new NodeSourceContext("", ""))
                .value());
    Map<String, String> values = new TreeMap<>();
    for (NodeSpec row : NodeRecorder.fetch(source, HOSTS, List.of(), Instant.now())) {
      values.put(row.name(), String.valueOf(row.attributes().get("value")));
    }
    source.close();
    return values;
  }

  @Test
  void valuesComeByTheLabelThatNamesTheNode() {
    await()
        .atMost(Duration.ofSeconds(60))
        .ignoreExceptions()
        .untilAsserted(
            () ->
                assertThat(values("replica_lag_seconds", "host"))
                    .isEqualTo(Map.of("h1", "\"7.5\"", "h2", "\"0\"")));
    assertThatThrownBy(() -> values("replica_lag_seconds[5m]", "host"))
        .isInstanceOf(NodeSourceException.class)
        .hasMessageContaining("answered with a matrix");
    assertThatThrownBy(() -> values("replica_lag_seconds{", "host"))
        .hasMessageContaining("answered with status 400: ")
        .hasMessageContaining("parse error");
    assertThatThrownBy(() -> values("sum(replica_lag_seconds)", "host"))
        .hasMessageContaining("has no label \"host\"");
    assertThatThrownBy(() -> values("time()", "host")).hasMessageContaining("a scalar");
  }
}
