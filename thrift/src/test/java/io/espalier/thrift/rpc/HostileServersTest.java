package io.espalier.thrift.rpc;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.testkit.tls.Authority;
import io.espalier.thrift.gen.Greeted;
import io.espalier.thrift.gen.Peer;
import io.espalier.thrift.rpc.RpcException.Kind;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Whatever a server answers, the call of its client ends with the right kind of failure, long
 * before its time is over, and the connection with it.
 */
final class HostileServersTest {
  private static final PeerOptions OPTIONS =
      PeerOptions.of("test", RpcSecurity.none())
          .withTimeouts(new RpcTimeouts(5_000, 5_000, 60_000, 60_000))
          .withLimits(RpcLimits.DEFAULT.withMillis(60_000, 400, 60_000).withMaxFrameBytes(1 << 20));

  private static final long LONG_BEFORE_SECONDS = 20;

  private final ExecutorService thread = Executors.newSingleThreadExecutor();
  private ServerSocket listener = unbound();

  private interface Answer {
    void to(Socket socket) throws IOException;
  }

  private static ServerSocket unbound() {
    try {
      return new ServerSocket();
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  @BeforeEach
  void listen() throws IOException {
    listener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
  }

  @AfterEach
  void close() throws IOException {
    listener.close();
    thread.shutdownNow();
  }

  private InetSocketAddress address() {
    return (InetSocketAddress) listener.getLocalSocketAddress();
  }

  private static byte[] read(Socket socket) throws IOException {
    InputStream in = socket.getInputStream();
    return in.readNBytes(ByteBuffer.wrap(in.readNBytes(Integer.BYTES)).getInt());
  }

  private static void write(Socket socket, byte[] bytes) throws IOException {
    OutputStream out = socket.getOutputStream();
    out.write(bytes);
    out.flush();
  }

  private static byte[] greeting() {
    Peer.greet_result result = new Peer.greet_result();
    result.setSuccess(new Greeted(1, "hostile"));
    byte[] answer = HostilePeersTest.call("greet", result);
    // A reply is type 2 in the upper bits of the second byte.
    answer[1] = (byte) ((answer[1] & 0x1f) | (2 << 5));
    return answer;
  }

  /** Greets one client, reads its call, answers, and waits for the client to end the connection. */
  private Future<?> serve(Answer answer) {
    return thread.submit(
        () -> {
          try (Socket socket = listener.accept()) {
            byte[] greeting = read(socket);
            assertThat(greeting).isNotEmpty();
            write(socket, HostilePeersTest.frame(greeting()));
            byte[] call = read(socket);
            assertThat(call).isNotEmpty();
            answer.to(socket);
            HostilePeersTest.assertClosed(socket);
          }
          return null;
        });
  }

  private RpcException failure(Answer answer) throws Exception {
    Future<?> served = serve(answer);
    long begin = System.nanoTime();
    try (RpcClients clients = new RpcClients(PeerRole.WORKER, OPTIONS)) {
      RpcException failure = RpcTest.failure(clients, address(), "x");
      assertThat(TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - begin))
          .isLessThan(LONG_BEFORE_SECONDS);
      // While the client is open: it has ended the connection, not its own end.
      Object unused = served.get(LONG_BEFORE_SECONDS, TimeUnit.SECONDS);
      return failure;
    }
  }

  @Test
  void anAnswerOfGarbageLeavesTheFateOfTheCallUnknown() throws Exception {
    byte[] garbage = new byte[200];
    Arrays.fill(garbage, (byte) 0x55);

    assertThat(failure(socket -> write(socket, HostilePeersTest.frame(garbage))).kind())
        .isEqualTo(Kind.UNKNOWN);
  }

  @Test
  void anAnswerThatStopsToMakeSenseLeavesTheFateOfTheCallUnknown() throws Exception {
    RpcException failure =
        failure(
            socket -> {
              byte[] answer = greeting();
              // The sequence id is that of the call: the second of its connection.
              answer[2] = 2;
              Arrays.fill(answer, answer.length - 8, answer.length, (byte) 0xff);
              write(socket, HostilePeersTest.frame(answer));
            });

    assertThat(failure.kind()).isEqualTo(Kind.UNKNOWN);
  }

  @Test
  void anAnswerLargerThanAFrameIsNotTaken() throws Exception {
    assertThat(failure(socket -> write(socket, new byte[] {0x7f, 0, 0, 0, 1, 2, 3})).kind())
        .isEqualTo(Kind.UNKNOWN);
  }

  @Test
  void aServerThatStopsInTheMiddleOfItsAnswerIsGivenUp() throws Exception {
    assertThat(failure(socket -> write(socket, new byte[] {0, 0, 1, 0, 1, 2, 3})).kind())
        .isEqualTo(Kind.UNKNOWN);
  }

  @Test
  void aServerThatEndsInTheMiddleOfItsAnswerFailsTheCallAtOnce() throws Exception {
    RpcException failure =
        failure(
            socket -> {
              write(socket, new byte[] {0, 0, 1, 0, 1, 2, 3});
              socket.shutdownOutput();
            });

    assertThat(failure.kind()).isEqualTo(Kind.UNKNOWN);
    assertThat(failure).hasMessageContaining("broke");
  }

  @Test
  void whoseGreetingIsGarbageHasNotBeenSentTheCall() throws Exception {
    Future<?> served =
        thread.submit(
            () -> {
              try (Socket socket = listener.accept()) {
                write(
                    socket, "HTTP/1.1 400 Bad Request\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
                HostilePeersTest.assertClosed(socket);
              }
              return null;
            });
    try (RpcClients clients = new RpcClients(PeerRole.WORKER, OPTIONS)) {
      assertThat(RpcTest.failure(clients, address(), "x").kind()).isEqualTo(Kind.NOT_SENT);
      Object unused = served.get(LONG_BEFORE_SECONDS, TimeUnit.SECONDS);
    }
  }

  @Test
  void aTlsHandshakeThatTheServerBreaksOffMeansNotSent(@TempDir Path directory) throws Exception {
    Authority ours = new Authority(directory);
    PeerOptions tls =
        PeerOptions.of("test", TlsTest.security(ours, "scheduler"))
            .withTimeouts(OPTIONS.timeouts());
    Future<?> served =
        thread.submit(
            () -> {
              try (Socket socket = listener.accept()) {
                // A TLS alert in place of the server's hello: handshake_failure, fatal.
                write(socket, new byte[] {0x15, 0x03, 0x03, 0, 2, 2, 40});
                HostilePeersTest.assertClosed(socket);
              }
              return null;
            });
    try (RpcClients clients = new RpcClients(PeerRole.WORKER, tls)) {
      RpcException failure = RpcTest.failure(clients, address(), "x");
      assertThat(failure.kind()).isEqualTo(Kind.NOT_SENT);
      Object unused = served.get(LONG_BEFORE_SECONDS, TimeUnit.SECONDS);
    }
  }
}
