package io.espalier.webui;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.testkit.api.ApiFixture;
import io.espalier.webui.http.WebSecurity;
import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Whatever one client does to its connections, others are served. */
@Tag("slow")
class HostileClientsTest {
  private static final int CONNECTIONS = 20;

  private Served served = Served.standard();

  @BeforeEach
  void start() {
    served.close();
    WebOptions.Limits all = WebOptions.Limits.DEFAULT;
    WebOptions.Limits limits =
        new WebOptions.Limits(
            all.bodyBytes(),
            all.requests(),
            all.streams(),
            Duration.ofSeconds(2),
            all.answerWithin(),
            all.healthyWithin());
    served =
        Served.with(
            ApiFixture.standard(),
            o ->
                o.withLimits(limits)
                    .withSecurity(
                        WebSecurity.open()
                            .withConnecting(
                                new WebSecurity.Connecting(
                                    2 * CONNECTIONS, CONNECTIONS, Duration.ofMillis(700)))));
  }

  @AfterEach
  void stop() {
    served.close();
  }

  /** Whether the server ends the connection within a bound; what it says before. */
  private static String assertEnded(Socket socket) throws IOException {
    socket.setSoTimeout(20_000);
    InputStream in = socket.getInputStream();
    byte[] buffer = new byte[4096];
    StringBuilder said = new StringBuilder();
    try {
      int count = in.read(buffer);
      while (count >= 0) {
        said.append(new String(buffer, 0, count, US_ASCII));
        count = in.read(buffer);
      }
    } catch (SocketTimeoutException e) {
      throw new AssertionError("still open", e);
    } catch (IOException e) {
      assertThat(e).as("a reset: ended as well").isNotNull();
    }
    return said.toString();
  }

  private void assertOthersAreServed() {
    assertThat(served.get("/healthz").statusCode()).isEqualTo(200);
  }

  @Test
  void whoSaysNothingIsCutOff() throws Exception {
    try (Socket silent = served.connect()) {
      assertOthersAreServed();
      assertEnded(silent);
    }
  }

  @Test
  void whoSendsTheHeadByteByByteIsCutOffThoughNeverIdle() throws Exception {
    try (Socket slow = served.connect()) {
      Thread writer =
          new Thread(
              () -> {
                try {
                  slow.getOutputStream().write("GET / HTTP/1.1\r\nX: ".getBytes(US_ASCII));
                  while (!Thread.currentThread().isInterrupted()) {
                    slow.getOutputStream().write('a');
                    slow.getOutputStream().flush();
                    Thread.sleep(50);
                  }
                } catch (IOException | InterruptedException e) {
                  Thread.currentThread().interrupt();
                }
              });
      writer.setDaemon(true);
      writer.start();
      assertOthersAreServed();
      assertEnded(slow);
      writer.interrupt();
      writer.join();
    }
  }

  @Test
  void whoAsksForNothingAfterAnAnswerIsCutOff() throws Exception {
    try (Socket kept = served.connect()) {
      kept.getOutputStream()
          .write("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n".getBytes(US_ASCII));
      assertEnded(kept);
    }
  }

  @Test
  void aBodyThatNobodyReadsKeepsNoConnectionOpen() throws Exception {
    try (Socket slow = served.connect()) {
      slow.getOutputStream()
          .write(
              "GET /healthz HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999\r\n\r\n{"
                  .getBytes(US_ASCII));
      assertEnded(slow);
    }
  }

  @Test
  void moreConnectionsOfOneAddressThanThereMayBeAreClosedAtOnce() throws Exception {
    List<Socket> sockets = new ArrayList<>();
    try {
      for (int i = 0; i < 3 * CONNECTIONS; i++) {
        sockets.add(served.connect());
      }
      for (Socket socket : sockets) {
        assertEnded(socket);
      }
      assertOthersAreServed();
    } finally {
      for (Socket socket : sockets) {
        socket.close();
      }
    }
  }

  /** A request that was sent; the status of its answer, whose head is read. */
  private static String status(Socket socket, String request) throws IOException {
    socket.setSoTimeout(20_000);
    socket.getOutputStream().write(request.getBytes(US_ASCII));
    StringBuilder head = new StringBuilder();
    while (head.indexOf("\r\n\r\n") < 0) {
      int read = socket.getInputStream().read();
      if (read < 0) {
        return "unanswered";
      }
      head.append((char) read);
    }
    return head.substring(9, 12);
  }

  /** Served with room for {@link #CONNECTIONS} of one address and few streams; none is slow. */
  private void serveWithFewStreams(int streams) {
    served.close();
    served =
        Served.with(
            ApiFixture.standard(),
            o ->
                o.withLimits(Served.limits(streams, Duration.ofSeconds(30)))
                    .withSecurity(
                        WebSecurity.open()
                            .withConnecting(
                                new WebSecurity.Connecting(
                                    2 * CONNECTIONS, CONNECTIONS, Duration.ofMinutes(10)))));
  }

  @ParameterizedTest
  @ValueSource(strings = {"events", "logs?stream=stdout"})
  void streamsThatAreRefusedHoldNoConnection(String what) throws Exception {
    serveWithFewStreams(5); // three for one address
    String request =
        "GET /api/v1/" + what + " HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n";
    List<Socket> sockets = new ArrayList<>();
    try {
      for (int i = 0; i < 3; i++) {
        sockets.add(served.connect());
        assertThat(status(sockets.get(i), request)).isEqualTo("200");
      }
      for (int i = 0; i < 3 * CONNECTIONS; i++) {
        Socket socket = served.connect();
        sockets.add(socket);
        assertThat(status(socket, request)).as("stream " + i).isEqualTo("429");
        assertEnded(socket);
      }
      assertOthersAreServed();
      for (int i = 0; i < 3; i++) {
        assertThat(sockets.get(i).getInputStream().read()).as("the stream goes on").isPositive();
      }
    } finally {
      for (Socket socket : sockets) {
        socket.close();
      }
    }
  }

  @Test
  void connectionsThatAskForNothingMakeRoomForNewOnesAndStreamsDoNot() throws Exception {
    serveWithFewStreams(5); // three for one address
    String stream =
        "GET /api/v1/events HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n";
    List<Socket> sockets = new ArrayList<>();
    try {
      for (int i = 0; i < 3 * CONNECTIONS; i++) {
        Socket socket = served.connect();
        sockets.add(socket);
        assertThat(
                status(socket, i < 3 ? stream : "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"))
            .as("connection " + i)
            .isEqualTo("200");
      }
      assertOthersAreServed();
      for (int i = 0; i < 3; i++) {
        assertThat(sockets.get(i).getInputStream().read()).as("the stream goes on").isPositive();
      }
    } finally {
      for (Socket socket : sockets) {
        socket.close();
      }
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}x",
        "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: localhost\r\nX : y\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: localhost\r\n folded\r\n\r\n",
        "GET http://evil.example/ HTTP/1.1\r\nHost: evil.example\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n",
        "CONNECT evil.example:80 HTTP/1.1\r\nHost: evil.example:80\r\n\r\n",
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        "GET / HTTP/9.9\r\nHost: localhost\r\n\r\n",
        "\u0000\u0001\u0002\r\n\r\n",
        "GET /\u0000 HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "\r\n\r\n\r\n\r\n"
      })
  void whatIsNoRequestIsRefusedAndEndsTheConnection(String text) throws Exception {
    try (Socket socket = served.connect()) {
      socket.setSoTimeout(20_000);
      socket.getOutputStream().write(text.getBytes(StandardCharsets.UTF_8));
      assertThat(assertEnded(socket)).doesNotContain("HTTP/1.1 2");
    }
    assertOthersAreServed();
    assertThat(served.scheduler.calls()).isEmpty();
  }

  @Test
  void aSecondRequestCannotHideInTheBodyOfTheFirst() {
    String hidden =
        "POST /api/v1/jobs/backup/pause HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n";
    String answer =
        served.raw(
            "POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\nContent-Length: "
                + hidden.length()
                + "\r\n\r\n0\r\n\r\n"
                + hidden);
    assertThat(served.scheduler.calls()).as(answer).isEmpty();
  }

  @Test
  void everyAnswerForbidsFramesScriptsAndCaching() {
    for (String path : new String[] {"/", "/healthz", "/api/v1/jobs", "/nowhere", "/%zz"}) {
      String answer =
          served.raw("GET " + path + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
      assertThat(answer)
          .as(path)
          .contains("X-Frame-Options: DENY")
          .contains("frame-ancestors 'none'")
          .contains("default-src 'none'")
          .contains("X-Content-Type-Options: nosniff")
          .doesNotContain("unsafe-inline")
          .doesNotContainIgnoringCase("set-cookie")
          .doesNotContainIgnoringCase("access-control-allow");
    }
  }
}
