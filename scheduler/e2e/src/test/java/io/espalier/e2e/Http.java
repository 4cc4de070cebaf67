package io.espalier.e2e;

import io.espalier.core.json.Json;
import io.espalier.json.JsonReader;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.List;

/** What curl would do. */
final class Http {
  private final HttpClient client =
      HttpClient.newBuilder().proxy(HttpClient.Builder.NO_PROXY).build();
  private final String url;

  Http(String url) {
    this.url = url;
  }

  String url() {
    return url;
  }

  /** {@code curl URL/path}, which must answer 200 with an object. */
  Json.Obj get(String path) {
    HttpResponse<String> response = response(path);
    if (response.statusCode() != 200) {
      throw new AssertionError(path + ": " + response.statusCode() + " " + response.body());
    }
    return Espalier.parsed(response.body());
  }

  /** The events so far, which are a stream for those who do not ask for JSON. */
  List<Json> events() {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create(url + "/api/v1/events?limit=1000"))
            .header("Accept", "application/json");
    return ((Json.Arr) Site.at(Espalier.parsed(send(request).body()), "events")).items();
  }

  HttpResponse<String> response(String path) {
    return send(HttpRequest.newBuilder(URI.create(url + path)));
  }

  /** {@code curl --json '{}' URL/path}, which must answer 200. */
  void post(String path) {
    post(path, "{}");
  }

  /** {@code curl --json BODY URL/path}, which must answer 200. */
  void post(String path, String body) {
    change("POST", path, body);
  }

  /** {@code curl --json BODY -H 'Idempotency-Key: KEY' URL/path}. */
  HttpResponse<String> keyed(String key, String path, String body) {
    return send(
        HttpRequest.newBuilder(URI.create(url + path))
            .header("Content-Type", "application/json")
            .header("Idempotency-Key", key)
            .POST(BodyPublishers.ofString(body)));
  }

  /** Any other method. */
  Json.Obj change(String method, String path, String body) {
    HttpResponse<String> response =
        send(
            HttpRequest.newBuilder(URI.create(url + path))
                .header("Content-Type", "application/json")
                .method(method, BodyPublishers.ofString(body)));
    if (response.statusCode() != 200) {
      throw new AssertionError(path + ": " + response.statusCode() + " " + response.body());
    }
    return Espalier.parsed(response.body());
  }

  /** {@code curl -X PUT --json BODY URL/path}, which must answer 200. */
  void put(String path, String body) {
    HttpResponse<String> response =
        send(
            HttpRequest.newBuilder(URI.create(url + path))
                .header("Content-Type", "application/json")
                .PUT(BodyPublishers.ofString(body)));
    if (response.statusCode() != 200) {
      throw new AssertionError(path + ": " + response.statusCode() + " " + response.body());
    }
  }

  /** {@code curl -d BODY URL/}, Bistro's way, which must answer 200. */
  Json bistro(String body) {
    HttpResponse<String> response =
        send(
            HttpRequest.newBuilder(URI.create(url + "/"))
                .header("Content-Type", "application/x-www-form-urlencoded")
                .POST(BodyPublishers.ofString(body)));
    Json answer = JsonReader.parse(response.body()).value();
    if (response.statusCode() != 200 || answer == null) {
      throw new AssertionError(response.statusCode() + " " + response.body());
    }
    return answer;
  }

  /** The data that one Bistro handler answers. */
  Json data(String handler, String arguments) {
    String query = "{\"q\": {\"handler\": \"" + handler + "\"" + arguments + "}}";
    return Site.at(bistro(query), "q", "data");
  }

  private HttpResponse<String> send(HttpRequest.Builder request) {
    try {
      return client.send(request.timeout(Duration.ofSeconds(20)).build(), BodyHandlers.ofString());
    } catch (IOException e) {
      throw new AssertionError(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError("interrupted", e);
    }
  }
}
