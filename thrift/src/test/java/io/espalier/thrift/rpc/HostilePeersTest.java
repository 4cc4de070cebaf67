package io.espalier.thrift.rpc;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.thrift.gen.Greeting;
import io.espalier.thrift.gen.Peer;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.apache.thrift.TBase;
import org.apache.thrift.TException;
import org.apache.thrift.protocol.TCompactProtocol;
import org.apache.thrift.protocol.TMessage;
import org.apache.thrift.protocol.TMessageType;
import org.apache.thrift.transport.TMemoryBuffer;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Whatever one peer does, others are served, and the peer is cut off within a bound. */
final class HostilePeersTest {
  private static final PeerOptions OPTIONS =
      PeerOptions.of("test", RpcSecurity.none())
          .withTimeouts(new RpcTimeouts(5_000, 5_000, 10_000, 20_000))
          .withLimits(
              RpcLimits.DEFAULT
                  .withMillis(400, 400, 60_000)
                  .withConnections(200, 50)
                  .withMaxFrameBytes(1 << 20));

  /** How a TLS 1.2 handshake begins. */
  private static final byte[] TLS_HELLO = {
    0x16, 0x03, 0x01, 0x00, (byte) 0xf4, 0x01, 0x00, 0x00, (byte) 0xf0, 0x03, 0x03, 1, 2, 3, 4, 5
  };

  /** Loads the classes, so that the short time for a greeting counts only what a greeting takes. */
  @BeforeAll
  static void warmUp() throws Exception {
    PeerOptions patient = OPTIONS.withLimits(RpcLimits.DEFAULT);
    try (EchoServer server = EchoServer.start(patient);
        RpcClients clients = new RpcClients(PeerRole.WORKER, patient)) {
      assertThat(EchoServer.echo(clients, server.address(), "warm")).isEqualTo("warm");
    }
  }

  private interface Talk {
    void with(Socket socket) throws IOException;
  }

  /** Talks, and sees that the connection is closed by the server. */
  private static void cutOff(Talk talk) throws Exception {
    try (EchoServer server = EchoServer.start(OPTIONS);
        RpcClients clients = new RpcClients(PeerRole.WORKER, OPTIONS)) {
      assertThat(EchoServer.echo(clients, server.address(), "before")).isEqualTo("before");
      // Not earlier: the time to greet runs from here on.
      try (Socket socket = connect(server.address())) {
        talk.with(socket);
        assertThat(EchoServer.echo(clients, server.address(), "after")).isEqualTo("after");
        assertClosed(socket);
      }
    }
  }

  static Socket connect(InetSocketAddress address) throws IOException {
    Socket socket = new Socket(address.getAddress(), address.getPort());
    socket.setSoTimeout(20_000);
    return socket;
  }

  static void assertClosed(Socket socket) {
    try {
      socket.setSoTimeout(20_000);
      InputStream in = socket.getInputStream();
      byte[] buffer = new byte[1 << 16];
      int count = 0;
      while (count >= 0) {
        // Answers to what was sent before, and then the end.
        count = in.read(buffer);
      }
    } catch (SocketTimeoutException e) {
      throw new AssertionError("still open", e);
    } catch (IOException e) {
      // A reset: closed as well.
      return;
    }
  }

  static byte[] frame(byte[] body) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    DataOutputStream out = new DataOutputStream(bytes);
    out.writeInt(body.length);
    out.write(body);
    return bytes.toByteArray();
  }

  static byte[] call(String name, TBase<?, ?> arguments) {
    try {
      TMemoryBuffer buffer = new TMemoryBuffer(100);
      TCompactProtocol out = new TCompactProtocol(buffer);
      out.writeMessageBegin(new TMessage(name, TMessageType.CALL, 1));
      arguments.write(out);
      out.writeMessageEnd();
      return Arrays.copyOf(buffer.getArray(), buffer.length());
    } catch (TException e) {
      throw new IllegalStateException(e);
    }
  }

  static void greet(Socket socket) throws IOException {
    socket
        .getOutputStream()
        .write(frame(call("greet", new Peer.greet_args(new Greeting(1, 1, "hostile", "worker")))));
    byte[] header = socket.getInputStream().readNBytes(4);
    int length = ByteBuffer.wrap(header).getInt();
    assertThat(socket.getInputStream().readNBytes(length)).hasSize(length);
  }

  private static void write(Socket socket, byte[] bytes) {
    try {
      socket.getOutputStream().write(bytes);
    } catch (IOException e) {
      // Cut off while it was still talking.
      return;
    }
  }

  @Test
  void whoSaysNothing() throws Exception {
    cutOff(socket -> {});
  }

  @Test
  void whoSpeaksHttp() throws Exception {
    cutOff(
        socket ->
            write(socket, "GET / HTTP/1.1\r\nHost: x\r\n\r\n".getBytes(StandardCharsets.US_ASCII)));
  }

  @Test
  void whoAnnouncesMoreThanAFrameMayHave() throws Exception {
    cutOff(socket -> write(socket, new byte[] {0x7f, (byte) 0xff, (byte) 0xff, (byte) 0xff, 1}));
  }

  @Test
  void whoAnnouncesALengthBelowZero() throws Exception {
    cutOff(socket -> write(socket, new byte[] {(byte) 0xff, (byte) 0xff, (byte) 0xff, 0}));
  }

  @Test
  void whoSendsMoreThanAGreetingBeforeTheGreeting() throws Exception {
    cutOff(socket -> write(socket, frame(new byte[100_000])));
  }

  @Test
  void whoCallsBeforeGreeting() throws Exception {
    cutOff(
        socket ->
            write(
                socket,
                frame(call("echo", new Peer.greet_args(new Greeting(1, 1, "x", "worker"))))));
  }

  @Test
  void whoAnnouncesABigFrameAndSendsItByteByByte() throws Exception {
    cutOff(
        socket -> {
          greet(socket);
          write(socket, new byte[] {0, 0x0f, 0, 0, 1, 2, 3});
        });
  }

  @Test
  void whoSendsAWholeRequestByteByByteIsAnswered() throws Exception {
    try (EchoServer server = EchoServer.start(OPTIONS);
        Socket socket = connect(server.address())) {
      socket.setTcpNoDelay(true);
      greet(socket);
      byte[] request =
          frame(call("echo", new Peer.greet_args(new Greeting(1, 1, "slow", "worker"))));
      for (byte each : request) {
        socket.getOutputStream().write(each);
        socket.getOutputStream().flush();
      }
      int length = ByteBuffer.wrap(socket.getInputStream().readNBytes(4)).getInt();
      assertThat(new String(socket.getInputStream().readNBytes(length), StandardCharsets.US_ASCII))
          .contains("slow");
    }
  }

  @Test
  void whoSendsHalfALength() throws Exception {
    cutOff(socket -> write(socket, new byte[] {0, 0}));
  }

  @Test
  void whoEndsItsHalfOfTheConnectionBeforeAndAfterTheGreeting() throws Exception {
    cutOff(Socket::shutdownOutput);
    cutOff(
        socket -> {
          greet(socket);
          socket.shutdownOutput();
        });
  }

  @Test
  void whoGoesAwayWithoutAWordInTheMiddleOfARequest() throws Exception {
    cutOff(
        socket -> {
          greet(socket);
          write(socket, new byte[] {0, 0, 1, 0, 1, 2, 3});
          // A reset in place of an end.
          socket.setSoLinger(true, 0);
          socket.close();
        });
  }

  @Test
  void whoSpeaksTlsWherePlainIsSpoken() throws Exception {
    cutOff(socket -> write(socket, TLS_HELLO));
  }

  @Test
  void whoNeverReadsItsAnswers() throws Exception {
    cutOff(
        socket -> {
          greet(socket);
          byte[] question =
              frame(
                  call(
                      "echo",
                      new Peer.greet_args(new Greeting(1, 1, "x".repeat(500_000), "worker"))));
          Thread writer =
              new Thread(
                  () -> {
                    for (int i = 0; i < 100; i++) {
                      write(socket, question);
                    }
                  });
          writer.setDaemon(true);
          writer.start();
          try {
            writer.join(20_000);
          } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
          }
          assertThat(writer.isAlive()).isFalse();
        });
  }

  @Test
  void whoSaysThatAListHasBillionsOfElements() throws Exception {
    // A field of type list with 2^31-1 structures: nothing may be allocated for what did not come.
    cutOff(
        socket -> {
          greet(socket);
          byte[] start = call("echo", new Peer.greet_args());
          byte[] list = {
            0x19, (byte) 0xfc, (byte) 0xff, (byte) 0xff, (byte) 0xff, (byte) 0xff, 0x07, 0
          };
          byte[] body = Arrays.copyOf(start, start.length - 1 + list.length);
          System.arraycopy(list, 0, body, start.length - 1, list.length);
          write(socket, frame(body));
        });
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20})
  void whoSendsGarbage(long seed) throws Exception {
    Random random = new Random(seed);
    cutOff(
        socket -> {
          if (random.nextBoolean()) {
            greet(socket);
          }
          byte[] valid =
              call("echo", new Peer.greet_args(new Greeting(1, 1, "hello there", "worker")));
          for (int i = 0; i < 30; i++) {
            byte[] body;
            if (random.nextBoolean()) {
              body = valid.clone();
              for (int flips = 1 + random.nextInt(4); flips > 0; flips--) {
                body[random.nextInt(body.length)] ^= (byte) (1 << random.nextInt(8));
              }
            } else {
              body = new byte[1 + random.nextInt(300)];
              random.nextBytes(body);
            }
            write(socket, frame(body));
          }
          byte[] end = new byte[50];
          Arrays.fill(end, (byte) 0xff);
          write(socket, end);
        });
  }

  @Test
  void thousandsWhoSayNothingDoNotKeepOthersOut() throws Exception {
    List<Socket> crowd = new ArrayList<>();
    try (EchoServer server = EchoServer.start(OPTIONS);
        RpcClients clients = new RpcClients(PeerRole.WORKER, OPTIONS)) {
      for (int i = 0; i < 2_000; i++) {
        crowd.add(connect(server.address()));
        if (i % 200 == 0) {
          assertThat(EchoServer.echo(clients, server.address(), "hello")).isEqualTo("hello");
        }
      }
      try (RpcClients newcomer = new RpcClients(PeerRole.WORKER, OPTIONS)) {
        assertThat(EchoServer.echo(newcomer, server.address(), "hello")).isEqualTo("hello");
      }
      for (Socket socket : crowd) {
        assertClosed(socket);
      }
    } finally {
      for (Socket socket : crowd) {
        socket.close();
      }
    }
  }

  @Test
  void aServerThatDoesNotReadDoesNotHoldItsCaller() throws Exception {
    try (ServerSocket deaf = new ServerSocket(0, 10, InetAddress.getLoopbackAddress())) {
      Thread greeter =
          new Thread(
              () -> {
                try {
                  Socket socket = deaf.accept();
                  byte[] header = socket.getInputStream().readNBytes(4);
                  int length = ByteBuffer.wrap(header).getInt();
                  byte[] unused = socket.getInputStream().readNBytes(length);
                  OutputStream out = socket.getOutputStream();
                  Peer.greet_result result = new Peer.greet_result();
                  result.setSuccess(new io.espalier.thrift.gen.Greeted(1, "deaf"));
                  byte[] answer = call("greet", result);
                  // A reply is type 2 in the upper bits of the second byte.
                  answer[1] = (byte) ((answer[1] & 0x1f) | (2 << 5));
                  out.write(frame(answer));
                  out.flush();
                  Thread.sleep(60_000);
                } catch (IOException | InterruptedException e) {
                  return;
                }
              });
      greeter.setDaemon(true);
      greeter.start();
      PeerOptions hasty =
          OPTIONS
              .withTimeouts(new RpcTimeouts(2_000, 1_000, 1_000, 4_000))
              .withLimits(RpcLimits.DEFAULT);
      try (RpcClients clients = new RpcClients(PeerRole.WORKER, hasty)) {
        RpcException failure =
            RpcTest.failure(
                clients, (InetSocketAddress) deaf.getLocalSocketAddress(), "x".repeat(15_000_000));
        assertThat(failure.kind()).isEqualTo(RpcException.Kind.UNKNOWN);
      }
      greeter.interrupt();
    }
  }
}
