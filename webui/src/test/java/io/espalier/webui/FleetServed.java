package io.espalier.webui;

import io.espalier.core.json.Json;
import io.espalier.webui.fleet.Fleet;
import io.espalier.webui.fleet.poll.FleetOptions;
import io.espalier.webui.fleet.poll.SchedulerAddress;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.function.UnaryOperator;

/** The page over many schedulers, served, and a client for it. */
public final class FleetServed implements AutoCloseable {
  public final Fleet fleet;
  public final WebServer server;
  private final HttpClient client =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

  public FleetServed(List<SchedulerAddress> schedulers, FleetOptions options) {
    this(schedulers, options, o -> o);
  }

  public FleetServed(
      List<SchedulerAddress> schedulers, FleetOptions options, UnaryOperator<WebOptions> web) {
    fleet = new Fleet(options, InstantSource.system());
    fleet.follow("a test", schedulers);
    server = WebServer.fleet(web.apply(WebOptions.at("127.0.0.1", 0)), fleet);
  }

  public HttpRequest.Builder request(String path) {
    return HttpRequest.newBuilder(URI.create(server.uri() + path)).timeout(Duration.ofSeconds(60));
  }

  public HttpResponse<String> send(HttpRequest request) {
    try {
      return client.send(request, HttpResponse.BodyHandlers.ofString());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  /** The body of an answer without error. */
  public Json.Obj get(String path) {
    HttpResponse<String> response = send(request(path).build());
    if (response.statusCode() != 200) {
      throw new AssertionError(path + ": " + response.statusCode() + " " + response.body());
    }
    return Served.object(response);
  }

  public HttpResponse<String> post(String path, String body) {
    return send(request(path).POST(HttpRequest.BodyPublishers.ofString(body)).build());
  }

  @Override
  public void close() {
    server.close();
    fleet.close();
  }
}
