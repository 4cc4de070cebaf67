package io.espalier.thrift.rpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.espalier.core.protocol.Versions;
import io.espalier.thrift.gen.Peer;
import io.espalier.thrift.rpc.RpcException.Kind;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.Test;

final class RpcTest {
  private static final RpcTimeouts SHORT = new RpcTimeouts(1_000, 300, 300, 1_000);

  private static PeerOptions options(RpcSecurity security) {
    return PeerOptions.of("test", security)
        .withTimeouts(new RpcTimeouts(2_000, 2_000, 5_000, 20_000));
  }

  private static final PeerOptions OPEN = options(RpcSecurity.none());

  @Test
  void aTextGoesThereAndBack() throws Exception {
    try (EchoServer server = EchoServer.start(OPEN);
        RpcClients clients = new RpcClients(PeerRole.WORKER, OPEN)) {
      assertThat(EchoServer.echo(clients, server.address(), "hello")).isEqualTo("hello");
    }
  }

  @Test
  void aPortInUseIsOneClearLine() throws Exception {
    try (EchoServer server = EchoServer.start(OPEN)) {
      InetSocketAddress taken = server.address();
      assertThatThrownBy(
              () -> RpcServer.start(PeerRole.WORKER, taken, OPEN, new ProtocolHandlers()))
          .hasMessage(
              "cannot listen on "
                  + taken.getHostString()
                  + ":"
                  + taken.getPort()
                  + ": the port is in use; choose another with --thrift HOST:PORT");
    }
  }

  @Test
  void aConnectionLastsForMoreBytesThanOneMessageMayHave() throws Exception {
    PeerOptions small = OPEN.withLimits(RpcLimits.DEFAULT.withMaxFrameBytes(100_000));
    try (EchoServer server = EchoServer.start(small);
        RpcClients clients = new RpcClients(PeerRole.WORKER, small)) {
      String text = "x".repeat(90_000);
      for (int i = 0; i < 20; i++) {
        assertThat(EchoServer.echo(clients, server.address(), text)).isEqualTo(text);
      }
    }
  }

  @Test
  void manyCallersAreServedAtOnceAlsoWhenAnswersTakeTheirTime() throws Exception {
    List<CompletableFuture<String>> answers = new ArrayList<>();
    try (EchoServer server =
            EchoServer.start(
                OPEN,
                text -> {
                  CompletableFuture<String> answer = new CompletableFuture<>();
                  synchronized (answers) {
                    answers.add(answer);
                    if (answers.size() == 50) {
                      answers.forEach(each -> each.complete("all here"));
                    }
                  }
                  return answer;
                });
        RpcClients clients = new RpcClients(PeerRole.WORKER, OPEN)) {
      ExecutorService callers = Executors.newFixedThreadPool(50);
      List<Future<String>> calls = new ArrayList<>();
      for (int i = 0; i < 50; i++) {
        calls.add(callers.submit(() -> EchoServer.echo(clients, server.address(), "here")));
      }
      for (Future<String> call : calls) {
        assertThat(call.get()).isEqualTo("all here");
      }
      callers.shutdown();
    }
  }

  @Test
  void anAnswerThatIsTooBigIsAFailureAndNotAHang() throws Exception {
    PeerOptions small = OPEN.withLimits(RpcLimits.DEFAULT.withMaxFrameBytes(10_000));
    try (EchoServer server =
            EchoServer.start(small, text -> CompletableFuture.completedFuture("x".repeat(20_000)));
        RpcClients clients = new RpcClients(PeerRole.WORKER, small)) {
      assertThatThrownBy(() -> EchoServer.echo(clients, server.address(), "hello"))
          .isInstanceOf(RpcException.class)
          .hasMessageContaining("more than fit in a frame");
    }
  }

  @Test
  void whoAcceptedAConnectionCallsBackOnIt() throws Exception {
    BlockingQueue<RpcConnection> callers = new LinkedBlockingQueue<>();
    CompletableFuture<String> answer = new CompletableFuture<>();
    CountDownLatch lost = new CountDownLatch(1);
    try (RpcClients clients =
        new RpcClients(
            PeerRole.WORKER, OPEN, EchoServer.methods(text -> answer), lost::countDown)) {
      try (EchoServer server = EchoServer.start(OPEN, callers)) {
        assertThat(EchoServer.echo(clients, server.address(), "there")).isEqualTo("there");
        RpcConnection back = callers.take();
        Peer.greet_result result = new Peer.greet_result();
        CompletableFuture<Void> called = EchoServer.echo(back, "and back", result);
        // The other direction is free meanwhile.
        assertThat(EchoServer.echo(clients, server.address(), "there")).isEqualTo("there");
        answer.complete("answered");
        called.get();
        assertThat(Objects.requireNonNull(result.getSuccess()).getProgram()).isEqualTo("answered");
        assertThat(callers.take()).isSameAs(back);
        assertThatThrownBy(EchoServer.unknown(back)::get).hasMessageContaining("no such call");
      }
      lost.await();
    }
  }

  @Test
  void theEndOfAConnectionFailsItsOpenCallsAtOnce() throws Exception {
    BlockingQueue<RpcConnection> callers = new LinkedBlockingQueue<>();
    RpcConnection back;
    CompletableFuture<Void> open;
    try (EchoServer server = EchoServer.start(OPEN, callers)) {
      try (RpcClients clients =
          new RpcClients(
              PeerRole.WORKER,
              OPEN,
              EchoServer.methods(text -> new CompletableFuture<>()),
              () -> {})) {
        assertThat(EchoServer.echo(clients, server.address(), "there")).isEqualTo("there");
        back = callers.take();
        open = EchoServer.echo(back, "never answered", new Peer.greet_result());
        // Answers come in any order: this one shows that the call before it has been sent.
        assertThatThrownBy(EchoServer.unknown(back)::get).hasMessageContaining("no such call");
      }
      assertThat(kind(open)).isEqualTo(Kind.UNKNOWN);
      assertThat(kind(EchoServer.echo(back, "too late", new Peer.greet_result())))
          .isEqualTo(Kind.NOT_SENT);
    }
  }

  private static Kind kind(CompletableFuture<Void> call) throws Exception {
    try {
      Void unused = call.get();
      throw new AssertionError("was answered");
    } catch (ExecutionException e) {
      return e.getCause() instanceof RpcException failure ? failure.kind() : Kind.REFUSED;
    }
  }

  @Test
  void nobodyThereMeansNotSent() throws Exception {
    InetSocketAddress nobody;
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      nobody = (InetSocketAddress) socket.getLocalSocketAddress();
    }
    try (RpcClients clients = new RpcClients(PeerRole.WORKER, OPEN)) {
      assertThat(failure(clients, nobody, "x").kind()).isEqualTo(Kind.NOT_SENT);
    }
  }

  @Test
  void aPeerThatNeverAnswersTheGreetingMeansNotSent() throws Exception {
    try (ServerSocket mute = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        RpcClients clients = new RpcClients(PeerRole.WORKER, OPEN.withTimeouts(SHORT))) {
      InetSocketAddress address = (InetSocketAddress) mute.getLocalSocketAddress();
      assertThat(failure(clients, address, "x").kind()).isEqualTo(Kind.NOT_SENT);
    }
  }

  @Test
  void aCallWithoutAnAnswerInTimeHasAnUnknownFate() throws Exception {
    try (EchoServer server = EchoServer.start(OPEN, text -> new CompletableFuture<>());
        RpcClients clients = new RpcClients(PeerRole.WORKER, OPEN.withTimeouts(SHORT))) {
      RpcException failure = failure(clients, server.address(), "x");
      assertThat(failure.kind()).isEqualTo(Kind.UNKNOWN);
      assertThat(failure).hasMessageContaining("in time");
    }
  }

  @Test
  void aServerThatWentAwayDoesNotSpoilTheCallsAfterTheNext() throws Exception {
    try (RpcClients clients = new RpcClients(PeerRole.WORKER, OPEN)) {
      InetSocketAddress address;
      try (EchoServer server = EchoServer.start(OPEN)) {
        address = server.address();
        assertThat(EchoServer.echo(clients, address, "hello")).isEqualTo("hello");
      }
      // Whether the end of the connection was seen before the call is a race of two threads.
      assertThat(failure(clients, address, "x").kind()).isIn(Kind.UNKNOWN, Kind.NOT_SENT);
      assertThat(failure(clients, address, "x").kind()).isEqualTo(Kind.NOT_SENT);
    }
  }

  @Test
  void theRightTokenIsLetInAndNoOther() throws Exception {
    PeerOptions right = options(RpcSecurity.secret("right-secret"));
    try (EchoServer server = EchoServer.start(right);
        RpcClients good = new RpcClients(PeerRole.WORKER, right);
        RpcClients bad =
            new RpcClients(PeerRole.WORKER, options(RpcSecurity.secret("wrong-secret")));
        RpcClients none = new RpcClients(PeerRole.WORKER, OPEN)) {
      assertThat(EchoServer.echo(good, server.address(), "hello")).isEqualTo("hello");
      assertRefused(bad, server, "the token is not the one of this worker");
      assertRefused(none, server, "--token-file");
    }
  }

  @Test
  void whoTakesUsForSomebodyElseIsToldSo() throws Exception {
    try (EchoServer server = EchoServer.start(OPEN);
        RpcClients clients = new RpcClients(PeerRole.SCHEDULER, OPEN)) {
      assertRefused(clients, server, "this is a worker, not a scheduler");
    }
  }

  @Test
  void oneReleaseApartTalksAndTwoDoNot() throws Exception {
    PeerOptions third = OPEN.withProtocol(new Versions(2, 3));
    try (EchoServer server = EchoServer.start(third);
        RpcClients second = new RpcClients(PeerRole.WORKER, OPEN.withProtocol(new Versions(1, 2)));
        RpcClients fourth = new RpcClients(PeerRole.WORKER, OPEN.withProtocol(new Versions(3, 4)));
        RpcClients first = new RpcClients(PeerRole.WORKER, OPEN.withProtocol(new Versions(1, 1)))) {
      assertThat(EchoServer.echo(second, server.address(), "older")).isEqualTo("older");
      assertThat(EchoServer.echo(fourth, server.address(), "newer")).isEqualTo("newer");
      assertRefused(first, server, "speaks protocol 2 to 3, the caller (test) speaks 1");
    }
  }

  @Test
  void listeningForOthersNeedsAuthentication() {
    RpcSecurity none = RpcSecurity.none();
    assertThat(none.objection("--thrift", "127.0.0.1", false)).isEmpty();
    assertThat(none.objection("--thrift", "0.0.0.0", true)).isEmpty();
    assertThat(RpcSecurity.secret("something").objection("--thrift", "0.0.0.0", false)).isEmpty();
    assertThat(none.objection("--thrift", "0.0.0.0", false).orElseThrow())
        .contains("--token-file", "--tls-cert", "--insecure");
  }

  private static void assertRefused(RpcClients clients, EchoServer server, String why) {
    RpcException failure = failure(clients, server.address(), "x");
    assertThat(failure.kind()).isEqualTo(Kind.REFUSED);
    assertThat(failure).hasMessageContaining(why);
  }

  static RpcException failure(RpcClients clients, InetSocketAddress to, String text) {
    try {
      throw new AssertionError("was answered: " + EchoServer.echo(clients, to, text));
    } catch (RpcException e) {
      return e;
    }
  }
}
