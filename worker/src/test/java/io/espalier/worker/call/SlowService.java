package io.espalier.worker.call;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;

/** A real HTTP service on loopback whose answers tests set, path by path. */
final class SlowService implements AutoCloseable {
  private final HttpServer server;
  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final Map<String, BlockingQueue<Reply>> replies = new ConcurrentHashMap<>();
  private final AtomicInteger unanswered = new AtomicInteger();
  private final AtomicInteger most = new AtomicInteger();
  private final List<Seen> requests = new CopyOnWriteArrayList<>();

  /**
   * An answer.
   *
   * @param status 0: the connection is closed without an answer
   */
  record Reply(int status, Map<String, String> headers, String body) {
    static Reply of(int status, String body) {
      return new Reply(status, Map.of(), body);
    }
  }

  /** A request as it came. */
  record Seen(String method, String path, Map<String, List<String>> headers, String body) {
    String header(String name) {
      return headers.getOrDefault(name, List.of("")).get(0);
    }
  }

  SlowService() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 1_000);
    server.createContext("/", this::handle);
    server.setExecutor(threads);
    server.start();
  }

  String url() {
    return "http://127.0.0.1:" + server.getAddress().getPort();
  }

  /** Adds answers for a path; a request waits until there is one, and the last one stays. */
  void answers(String path, Reply... answers) {
    replies.computeIfAbsent(path, any -> new LinkedBlockingQueue<>()).addAll(List.of(answers));
  }

  List<Seen> requests(String path) {
    return requests.stream().filter(seen -> seen.path().equals(path)).toList();
  }

  /** Returns how many requests waited for their answer at the same time, at most. */
  int mostAtATime() {
    return most.get();
  }

  private void handle(HttpExchange exchange) throws IOException {
    most.accumulateAndGet(unanswered.incrementAndGet(), Math::max);
    try (exchange) {
      String path = exchange.getRequestURI().getRawPath();
      requests.add(
          new Seen(
              exchange.getRequestMethod(),
              path,
              Map.copyOf(exchange.getRequestHeaders()),
              new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8)));
      BlockingQueue<Reply> queue =
          replies.computeIfAbsent(path, any -> new LinkedBlockingQueue<>());
      Reply reply;
      try {
        reply = queue.take();
      } catch (InterruptedException e) {
        return;
      } finally {
        unanswered.decrementAndGet();
      }
      if (queue.isEmpty()) {
        queue.add(reply);
      }
      if (reply.status() == 0) {
        return;
      }
      reply.headers().forEach((name, value) -> exchange.getResponseHeaders().set(name, value));
      byte[] body = reply.body().getBytes(StandardCharsets.UTF_8);
      exchange.sendResponseHeaders(reply.status(), body.length == 0 ? -1 : body.length);
      exchange.getResponseBody().write(body);
    }
  }

  @Override
  public void close() {
    server.stop(0);
    threads.shutdownNow();
  }
}
