package io.espalier.cli.client;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * Answers as a scheduler would, with bodies that a test has laid down; remembers what was asked.
 */
final class FakeServer implements AutoCloseable {
  private record Answer(int status, String body) {}

  private final HttpServer http;
  private final Map<String, Deque<Answer>> answers = new ConcurrentHashMap<>();
  private final List<String> asked = new CopyOnWriteArrayList<>();

  FakeServer() {
    try {
      http = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 16);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    http.createContext("/", this::answer);
    http.start();
  }

  /**
   * @param request method and path, without the query; the last answer of a request is repeated
   */
  FakeServer on(String request, String body) {
    return on(request, 200, body);
  }

  FakeServer on(String request, int status, String body) {
    answers
        .computeIfAbsent(request, key -> new ArrayDeque<>())
        .add(new Answer(status, body.replace('\'', '"')));
    return this;
  }

  String url() {
    return "http://127.0.0.1:" + http.getAddress().getPort();
  }

  /** Method, path with query, and body, in order. */
  List<String> asked() {
    return List.copyOf(asked);
  }

  private void answer(HttpExchange exchange) throws IOException {
    String body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
    String request = exchange.getRequestMethod() + " " + exchange.getRequestURI().getRawPath();
    String query = exchange.getRequestURI().getRawQuery();
    asked.add(
        (request + (query == null ? "" : "?" + query) + " " + (body.equals("{}") ? "" : body))
            .strip());
    Deque<Answer> queue = answers.getOrDefault(request, new ArrayDeque<>());
    Answer answer;
    synchronized (queue) {
      answer = queue.size() > 1 ? queue.removeFirst() : queue.peekFirst();
    }
    if (answer == null) {
      answer = new Answer(404, "{\"detail\": \"nothing is laid down for " + request + "\"}");
    }
    byte[] bytes = answer.body().getBytes(StandardCharsets.UTF_8);
    exchange.getResponseHeaders().set("Content-Type", "application/json");
    exchange.sendResponseHeaders(answer.status(), bytes.length);
    exchange.getResponseBody().write(bytes);
    exchange.close();
  }

  @Override
  public void close() {
    http.stop(0);
  }
}
