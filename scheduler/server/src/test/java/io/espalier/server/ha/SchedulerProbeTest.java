package io.espalier.server.ha;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.espalier.core.json.Json;
import io.espalier.server.security.ClientAccess;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

class SchedulerProbeTest {

  @Test
  void readsAnObject() throws Exception {
    try (ServerSocket server = listen()) {
      CompletableFuture<Socket> peer = answer(server, "Content-Length: 12\r\n\r\n{\"up\": true}");

      SchedulerProbe.Said said = new SchedulerProbe(ClientAccess.none()).get(at(server), "/x");

      assertThat(said.status()).isEqualTo(200);
      assertThat(said.body().get("up")).isEqualTo(Json.of(true));
      peer.join().close();
    }
  }

  @Test
  void givesUpOnABodyThatDoesNotEnd() throws Exception {
    try (ServerSocket server = listen()) {
      CompletableFuture<Socket> peer = answer(server, "Content-Length: 100\r\n\r\n{\"up\":");

      assertThatThrownBy(
              () ->
                  new SchedulerProbe(ClientAccess.none(), Duration.ofMillis(300))
                      .get(at(server), "/x"))
          .isInstanceOf(IOException.class)
          .hasMessage("no whole answer within 300 ms");
      peer.join().close();
    }
  }

  private static ServerSocket listen() throws IOException {
    return new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
  }

  private static String at(ServerSocket server) {
    return "127.0.0.1:" + server.getLocalPort();
  }

  /** Answers the one request, and keeps the connection open. */
  private static CompletableFuture<Socket> answer(ServerSocket server, String rest) {
    return CompletableFuture.supplyAsync(
        () -> {
          try {
            Socket peer = server.accept();
            peer.getOutputStream()
                .write(("HTTP/1.1 200 OK\r\n" + rest).getBytes(StandardCharsets.US_ASCII));
            return peer;
          } catch (IOException e) {
            throw new UncheckedIOException(e);
          }
        });
  }
}
