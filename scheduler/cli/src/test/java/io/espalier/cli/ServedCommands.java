package io.espalier.cli;

import io.espalier.cli.client.CommandRun;
import io.espalier.testkit.api.ApiFixture;
import io.espalier.testkit.api.FakeScheduler;
import io.espalier.webui.WebOptions;
import io.espalier.webui.WebServer;
import io.espalier.webui.v1.ServerIdentity;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;

/** The set-up of tests of commands that a served fake scheduler answers. */
abstract class ServedCommands {
  final FakeScheduler scheduler = ApiFixture.standard();
  WebServer server = serve(0);

  @AfterEach
  void stop() {
    server.close();
  }

  WebServer serve(int port) {
    return WebServer.start(
        WebOptions.at("127.0.0.1", port).withIdentity(new ServerIdentity("1", "local", "here")),
        scheduler,
        new PrometheusMeterRegistry(PrometheusConfig.DEFAULT));
  }

  CommandRun run(String... arguments) {
    return sized(0, arguments);
  }

  CommandRun sized(int width, String... arguments) {
    List<String> all = new ArrayList<>(List.of(arguments));
    all.add("--server");
    all.add(server.uri().toString());
    return CommandRun.of(width, all.toArray(String[]::new));
  }
}
