package io.espalier.webui;

import io.espalier.core.json.Json;
import io.espalier.testkit.api.ApiFixture;
import io.espalier.testkit.api.FakeScheduler;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;

/** Serves a made-up scheduler, to look at with a browser or curl. */
final class ServeFakeMain {
  private ServeFakeMain() {}

  public static void main(String[] args) throws InterruptedException {
    int port = args.length > 0 ? Integer.parseInt(args[0]) : 8080;
    FakeScheduler scheduler = ApiFixture.standard();
    try (WebServer server =
        WebServer.start(
            WebOptions.at("127.0.0.1", port),
            scheduler,
            new PrometheusMeterRegistry(PrometheusConfig.DEFAULT))) {
      System.out.println("listening on " + server.uri());
      while (!Thread.interrupted()) {
        Thread.sleep(1000);
        long now = System.currentTimeMillis();
        scheduler.publish(now);
        scheduler.events().add(now, "tick", Json.Obj.EMPTY);
      }
    }
  }
}
