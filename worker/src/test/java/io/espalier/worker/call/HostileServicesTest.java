package io.espalier.worker.call;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.call.CallAnswer;
import io.espalier.core.config.task.CallSpec;
import io.espalier.core.json.Json;
import io.espalier.core.running.Call;
import io.espalier.core.running.Invocation;
import io.espalier.core.running.InvocationLimits;
import io.espalier.worker.call.SlowService.Reply;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Services that no HTTP server would be: what a call makes of them ends in time, and does not claim
 * more than is known (docs/calls.md#what-an-answer-means).
 */
class HostileServicesTest {
  private static final long PATIENCE_SEC = 30;

  private final HttpCalls calls = new HttpCalls();

  @AfterEach
  void close() {
    calls.close();
  }

  /** What a server does with a connection once the client has sent something. */
  private interface Manners {
    void serve(Socket connection) throws IOException;
  }

  /** A server for one connection, which it closes only at the end of the test. */
  private static final class Rude implements AutoCloseable {
    private final BlockingQueue<Socket> accepted = new LinkedBlockingQueue<>();
    private final ServerSocket server = new ServerSocket(0, 5, InetAddress.getLoopbackAddress());
    private final Thread thread;

    Rude(Manners manners) throws IOException {
      thread =
          new Thread(
              () -> {
                try (Socket connection = server.accept()) {
                  accepted.add(connection);
                  if (connection.getInputStream().read() >= 0) {
                    manners.serve(connection);
                  }
                  // Returns when the client has let go.
                  while (connection.getInputStream().read() >= 0) {}
                } catch (IOException e) {
                  // The client has gone.
                }
              },
              "rude");
      thread.start();
    }

    String url(String scheme) {
      return scheme + "://127.0.0.1:" + server.getLocalPort();
    }

    /** Waits until the client has closed its connection. */
    void isLetGo() throws InterruptedException {
      thread.join(TimeUnit.SECONDS.toMillis(PATIENCE_SEC));
      assertThat(thread.isAlive()).as("a connection is left open").isFalse();
    }

    @Override
    public void close() throws IOException {
      server.close();
      for (Socket each : accepted) {
        each.close();
      }
    }
  }

  private static Call call(String url, double timeoutSec) {
    Json.Obj options =
        Json.object()
            .put("url", url + "/run")
            .put("timeout_sec", Json.of(timeoutSec))
            .put("poll", Json.object().put("url", url + "/ask").build())
            .put("cancel", Json.object().put("url", url + "/ask").build())
            .build();
    return Call.of(
        new CallSpec("http", options, false, Duration.ofMinutes(1)),
        "job",
        0,
        new Invocation(7, 1, 1_000),
        1,
        List.of("instance"),
        List.of("i"),
        InvocationLimits.NONE);
  }

  private static CallAnswer answer(CompletionStage<CallAnswer> stage) throws Exception {
    return stage.toCompletableFuture().get(PATIENCE_SEC, TimeUnit.SECONDS);
  }

  private CallAnswer start(String url, double timeoutSec) throws Exception {
    return answer(calls.start(call(url, timeoutSec), Json.Obj.EMPTY, () -> true));
  }

  @Test
  void aHandshakeThatIsNeverAnsweredEndsAfterTheTimeoutAndLeavesNoConnection() throws Exception {
    try (Rude silent = new Rude(connection -> {})) {
      assertThat(start(silent.url("https"), 0.5))
          .as("nothing was sent")
          .isInstanceOfSatisfying(
              CallAnswer.NotStarted.class,
              answer ->
                  assertThat(answer.message())
                      .matches("cannot connect to (localhost|127\\.0\\.0\\.1):\\d+ in time"));
      silent.isLetGo();
    }
  }

  @Test
  void aPortThatSpeaksNoTlsIsNotCalled() throws Exception {
    byte[] plain = "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n".getBytes(US_ASCII);
    try (Rude http = new Rude(connection -> connection.getOutputStream().write(plain))) {
      assertThat(start(http.url("https"), 20)).isNotInstanceOf(CallAnswer.Ended.class);
      http.isLetGo();
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "220 mail.example.com ESMTP\r\n",
        "HTTP/1.1 abc\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        "\u0000\u0001\u0002\r\n\r\n"
      })
  void whatIsNoHttpIsAnUnknownOutcome(String said) throws Exception {
    byte[] bytes = said.getBytes(US_ASCII);
    try (Rude garbage = new Rude(connection -> connection.getOutputStream().write(bytes))) {
      CallAnswer answer = start(garbage.url("http"), 2);
      assertThat(answer).isInstanceOf(CallAnswer.Unknown.class);
      assertThat(answer.toString()).hasSizeLessThan(1_000);
    }
  }

  @Test
  void headersWithoutEndAreNotCollected() throws Exception {
    byte[] header = ("X-Y: " + "z".repeat(8_000) + "\r\n").getBytes(US_ASCII);
    try (Rude endless =
        new Rude(
            connection -> {
              connection.getOutputStream().write("HTTP/1.1 200 OK\r\n".getBytes(US_ASCII));
              // Ends when the client closes the connection: far more than any heap has room for.
              for (long sent = 0; sent < 1L << 40; sent += header.length) {
                connection.getOutputStream().write(header);
              }
            })) {
      CallAnswer answer = start(endless.url("http"), 20);
      assertThat(answer).isInstanceOf(CallAnswer.Unknown.class);
      assertThat(answer.toString()).as("not the time-out, but the limit").doesNotContain("in time");
    }
  }

  @Test
  void aBodyThatTricklesWithoutEndIsReadAsFarAsItMayBe() throws Exception {
    byte[] part = "3e8\r\n%s\r\n".formatted("x".repeat(1_000)).getBytes(US_ASCII);
    try (Rude endless =
        new Rude(
            connection -> {
              connection
                  .getOutputStream()
                  .write(
                      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".getBytes(US_ASCII));
              for (long sent = 0; sent < 1L << 40; sent += part.length) {
                connection.getOutputStream().write(part);
              }
            })) {
      assertThat(start(endless.url("http"), 20)).isEqualTo(new CallAnswer.Ended(CallAnswer.DONE));
      endless.isLetGo();
    }
  }

  /** What follows a redirection could be asked to fetch what only this host can reach. */
  @Test
  void noRequestFollowsARedirection() throws Exception {
    try (SlowService service = new SlowService()) {
      Map<String, String> there = Map.of("Location", service.url() + "/there");
      service.answers("/run", new Reply(307, there, ""));
      service.answers("/ask", new Reply(302, there, ""));
      Call call = call(service.url(), 20);
      CallAnswer started = start(service.url(), 20);
      assertThat(started).isInstanceOf(CallAnswer.Failed.class);
      for (CallAnswer answer :
          List.of(started, answer(calls.poll(call, "")), answer(calls.cancel(call, "")))) {
        assertThat(answer).isInstanceOfAny(CallAnswer.Failed.class, CallAnswer.Unknown.class);
        assertThat(answer.toString()).contains("redirections are not followed");
      }
      assertThat(service.requests("/there")).isEmpty();
    }
  }
}
