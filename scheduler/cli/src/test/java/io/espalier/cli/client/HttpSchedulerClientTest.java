package io.espalier.cli.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpServer;
import io.espalier.core.json.Json;
import io.espalier.server.CommandException;
import io.espalier.server.security.ClientAccess;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class HttpSchedulerClientTest {
  /** Answers the first request and reads the others without an answer. */
  private static void serve(ServerSocket listener, List<String> requests) {
    while (true) {
      try (Socket socket = listener.accept()) {
        BufferedReader in =
            new BufferedReader(
                new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
        do {
          requests.add(String.valueOf(in.readLine()));
          int length = 0;
          for (String line = in.readLine(); line != null && !line.isEmpty(); line = in.readLine()) {
            if (line.startsWith("Content-Length: ")) {
              length = Integer.parseInt(line.substring(16));
            }
          }
          for (int i = 0; i < length; i++) {
            int unused = in.read();
          }
          if (requests.size() == 1) {
            socket
                .getOutputStream()
                .write(
                    "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"
                        .getBytes(StandardCharsets.UTF_8));
          }
        } while (requests.size() == 1);
      } catch (IOException e) {
        return;
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"POST", "PUT", "DELETE"})
  void aCommandWhoseAnswerWasLostIsNotSentAgain(String method) throws Exception {
    List<String> requests = new CopyOnWriteArrayList<>();
    Thread server;
    try (ServerSocket listener = new ServerSocket(0, 5, InetAddress.getLoopbackAddress());
        HttpSchedulerClient client =
            new HttpSchedulerClient("127.0.0.1:" + listener.getLocalPort())) {
      server = new Thread(() -> serve(listener, requests), "server");
      server.start();
      assertThat(client.call("POST", "/first", Map.of(), Map.of(), Json.Obj.EMPTY))
          .isEqualTo(Json.Obj.EMPTY);
      // On the connection that is open, where the JDK would repeat it by default.
      assertThatThrownBy(() -> client.call(method, "/second", Map.of(), Map.of(), Json.Obj.EMPTY))
          .isInstanceOf(CommandException.class)
          .hasMessageContaining("cannot reach the scheduler");
    }
    server.join(10_000);
    assertThat(requests).containsExactly("POST /first HTTP/1.1", method + " /second HTTP/1.1");
  }

  private static void await(CountDownLatch latch) {
    try {
      assertThat(latch.await(30, TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"POST", "GET"})
  void anAnswerThatTakesLongIsRemarkedWhileItIsWaitedFor(String method) throws Exception {
    CountDownLatch remarked = new CountDownLatch(1);
    List<String> remarks = new CopyOnWriteArrayList<>();
    HttpServer server =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 1);
    server.createContext(
        "/",
        exchange -> {
          await(remarked); // the answer comes only after the remark
          exchange.sendResponseHeaders(200, 2);
          exchange.getResponseBody().write("{}".getBytes(StandardCharsets.UTF_8));
          exchange.close();
        });
    server.start();
    String url = "http://127.0.0.1:" + server.getAddress().getPort();
    try (HttpSchedulerClient client =
        new HttpSchedulerClient(
            url,
            ClientAccess.none(),
            remark -> {
              remarks.add(remark);
              remarked.countDown();
            },
            new HttpSchedulerClient.Patience(1, 60_000, 60_000))) {
      assertThat(client.call(method, "/slow", Map.of(), Map.of(), Json.Obj.EMPTY))
          .isEqualTo(Json.Obj.EMPTY);
    } finally {
      server.stop(0);
    }
    assertThat(remarks)
        .containsExactly(
            "the scheduler at " + url + " has not answered yet; waiting for up to 45 s");
  }

  /** Answers every request and writes on until the client closes the connection. */
  private static HttpServer endless(int status, byte[] begin, byte[] more) throws IOException {
    HttpServer server =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 5);
    server.createContext(
        "/",
        exchange -> {
          exchange.sendResponseHeaders(status, 0);
          OutputStream out = exchange.getResponseBody();
          out.write(begin);
          while (true) {
            out.write(more);
            out.flush();
          }
        });
    server.start();
    return server;
  }

  @ParameterizedTest
  @ValueSource(ints = {200, 404})
  @Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
  void anEndlessAnswerIsNoneOfAScheduler(int status) throws Exception {
    byte[] more = "a".repeat(1 << 20).getBytes(StandardCharsets.UTF_8);
    HttpServer server =
        endless(status, "{\"jobs\":[{\"name\":\"".getBytes(StandardCharsets.UTF_8), more);
    String url = "http://127.0.0.1:" + server.getAddress().getPort();
    try (HttpSchedulerClient client = new HttpSchedulerClient(url)) {
      String message = "what answers at " + url + " is not an Espalier scheduler";
      assertThatThrownBy(() -> client.call("GET", "/x", Map.of(), Map.of(), Json.Obj.EMPTY))
          .isInstanceOf(CommandException.class)
          .hasMessage(message);
      if (status >= 300) {
        assertThatThrownBy(() -> client.follow(Map.of(), event -> true)).hasMessage(message);
      }
    } finally {
      server.stop(0);
    }
  }

  @Test
  @Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
  void anAnswerThatNeverEndsIsGivenUp() throws Exception {
    byte[] blank = {' '};
    HttpServer server = endless(200, blank, blank);
    String url = "http://127.0.0.1:" + server.getAddress().getPort();
    try (HttpSchedulerClient client =
        new HttpSchedulerClient(
            url,
            ClientAccess.none(),
            remark -> {},
            new HttpSchedulerClient.Patience(60_000, 1, 60_000))) {
      assertThatThrownBy(() -> client.call("GET", "/x", Map.of(), Map.of(), Json.Obj.EMPTY))
          .isInstanceOf(CommandException.class)
          .hasMessage(
              "cannot reach the scheduler at " + url + ": no answer in time (see --server)");
    } finally {
      server.stop(0);
    }
  }

  @Test
  @Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
  void aStreamThatHasFallenSilentIsOpenedAgain() throws Exception {
    List<String> lasts = new CopyOnWriteArrayList<>();
    CompletableFuture<Void> over = new CompletableFuture<>();
    HttpServer server =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 5);
    ExecutorService threads = Executors.newCachedThreadPool();
    server.setExecutor(threads);
    server.createContext(
        "/",
        exchange -> {
          lasts.add(String.valueOf(exchange.getRequestHeaders().getFirst("Last-Event-ID")));
          exchange.sendResponseHeaders(200, 0);
          OutputStream out = exchange.getResponseBody();
          out.write(("id: " + lasts.size() + "\ndata: {}\n\n").getBytes(StandardCharsets.UTF_8));
          out.flush();
          over.join(); // as a host that was switched off: it says nothing, and closes nothing
          exchange.close();
        });
    server.start();
    List<Json.Obj> events = new ArrayList<>();
    try (HttpSchedulerClient client =
        new HttpSchedulerClient(
            "http://127.0.0.1:" + server.getAddress().getPort(),
            ClientAccess.none(),
            remark -> {},
            new HttpSchedulerClient.Patience(60_000, 60_000, 2_000))) {
      client.follow(
          Map.of(),
          event -> {
            events.add(event);
            return events.size() < 2;
          });
    } finally {
      over.complete(null);
      server.stop(0);
      threads.shutdownNow();
    }
    assertThat(events).hasSize(2);
    assertThat(lasts).containsExactly("null", "1");
  }
}
