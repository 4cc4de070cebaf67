package io.espalier.thrift.rpc;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.espalier.testkit.tls.Authority;
import io.espalier.thrift.rpc.RpcException.Kind;
import java.io.IOException;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class TlsTest {
  private record World(
      Authority ours, RpcSecurity scheduler, RpcSecurity worker, RpcSecurity stranger) {}

  private static final CompletableFuture<World> WORLD = new CompletableFuture<>();

  @TempDir static Path directory = Path.of("");

  @BeforeAll
  static void certificates() throws Exception {
    Authority ours = new Authority(directory.resolve("ours"));
    Authority theirs = new Authority(directory.resolve("theirs"));
    RpcSecurity.TlsFiles alien = files(theirs, "alien");
    WORLD.complete(
        new World(
            ours,
            security(ours, "scheduler"),
            security(ours, "worker"),
            RpcSecurity.of(
                Optional.of(
                    new RpcSecurity.TlsFiles(alien.certificate(), alien.key(), ours.certificate())),
                Optional.empty())));
  }

  private static RpcSecurity.TlsFiles files(Authority authority, String name) throws Exception {
    Authority.Member member = authority.member(name);
    return new RpcSecurity.TlsFiles(member.certificate(), member.key(), authority.certificate());
  }

  /** Returns the security of a new member that trusts its authority alone. */
  static RpcSecurity security(Authority authority, String name) throws Exception {
    return RpcSecurity.of(Optional.of(files(authority, name)), Optional.empty());
  }

  private static PeerOptions with(RpcSecurity security) {
    return PeerOptions.of("test", security)
        .withTimeouts(new RpcTimeouts(5_000, 5_000, 10_000, 20_000));
  }

  @Test
  void membersTalkAndBigTextsArriveWhole() throws Exception {
    World world = WORLD.get();
    try (EchoServer server = EchoServer.start(with(world.worker()));
        RpcClients clients = new RpcClients(PeerRole.WORKER, with(world.scheduler()))) {
      for (String text : new String[] {"hello", "x".repeat(100_000), "y".repeat(3_000_000), "z"}) {
        assertThat(EchoServer.echo(clients, server.address(), text)).isEqualTo(text);
      }
    }
  }

  @Test
  void aCertificateOfAnotherAuthorityIsNotLetIn() throws Exception {
    World world = WORLD.get();
    try (EchoServer server = EchoServer.start(with(world.worker()));
        RpcClients clients = new RpcClients(PeerRole.WORKER, with(world.stranger()))) {
      assertThat(RpcTest.failure(clients, server.address(), "x").kind()).isEqualTo(Kind.NOT_SENT);
    }
  }

  @Test
  void aServerOfAnotherAuthorityIsNotTalkedTo() throws Exception {
    World world = WORLD.get();
    try (EchoServer server = EchoServer.start(with(world.stranger()));
        RpcClients clients = new RpcClients(PeerRole.WORKER, with(world.scheduler()))) {
      RpcException failure = RpcTest.failure(clients, server.address(), "x");
      assertThat(failure.kind()).isEqualTo(Kind.NOT_SENT);
      assertThat(failure).hasMessageContaining("certificate of the same authority");
    }
  }

  @Test
  void withAndWithoutTlsDoNotMeet() throws Exception {
    World world = WORLD.get();
    PeerOptions plain = with(RpcSecurity.none());
    try (EchoServer secured = EchoServer.start(with(world.worker()));
        EchoServer open = EchoServer.start(plain);
        RpcClients plainClients = new RpcClients(PeerRole.WORKER, plain);
        RpcClients tlsClients = new RpcClients(PeerRole.WORKER, with(world.scheduler()))) {
      RpcException wantsTls = RpcTest.failure(plainClients, secured.address(), "x");
      assertThat(wantsTls.kind()).isEqualTo(Kind.NOT_SENT);
      assertThat(wantsTls).hasMessageContaining("expect TLS");
      RpcException hasNone = RpcTest.failure(tlsClients, open.address(), "x");
      assertThat(hasNone.kind()).isEqualTo(Kind.NOT_SENT);
      assertThat(hasNone)
          .hasMessageContaining("must speak TLS too")
          .hasMessageNotContaining("null");
    }
  }

  @Test
  void whoBeginsAHandshakeAndDoesNotEndItIsCutOffAndOthersAreServed() throws Exception {
    World world = WORLD.get();
    PeerOptions options =
        with(world.worker()).withLimits(RpcLimits.DEFAULT.withMillis(400, 400, 60_000));
    byte[] hello = {0x16, 0x03, 0x01, 0x00, (byte) 0xf4, 0x01, 0x00, 0x00, (byte) 0xf0, 3, 3};
    try (EchoServer server = EchoServer.start(options);
        RpcClients clients = new RpcClients(PeerRole.WORKER, with(world.scheduler()));
        Socket half = new Socket(server.address().getAddress(), server.address().getPort());
        Socket silent = new Socket(server.address().getAddress(), server.address().getPort());
        Socket http = new Socket(server.address().getAddress(), server.address().getPort())) {
      half.getOutputStream().write(hello);
      http.getOutputStream().write("GET / HTTP/1.1\r\n\r\n".getBytes(US_ASCII));
      assertThat(EchoServer.echo(clients, server.address(), "hello")).isEqualTo("hello");
      for (Socket socket : List.of(half, silent, http)) {
        HostilePeersTest.assertClosed(socket);
      }
      assertThat(EchoServer.echo(clients, server.address(), "hello")).isEqualTo("hello");
    }
  }

  @Test
  void badFilesAreNamed() throws Exception {
    World world = WORLD.get();
    RpcSecurity.TlsFiles good = files(world.ours(), "good");
    Path broken = directory.resolve("broken.pem");
    Files.writeString(broken, "nothing of use");
    assertBad(new RpcSecurity.TlsFiles(broken, good.key(), good.authority()), "broken.pem");
    assertBad(new RpcSecurity.TlsFiles(good.certificate(), broken, good.authority()), "pkcs8");
    assertBad(new RpcSecurity.TlsFiles(good.certificate(), good.key(), broken), "broken.pem");
    assertThatThrownBy(() -> RpcSecurity.of(Optional.empty(), Optional.of(directory.resolve("no"))))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("no");
    Path few = directory.resolve("few");
    Files.writeString(few, "abc\n");
    assertThatThrownBy(() -> RpcSecurity.of(Optional.empty(), Optional.of(few)))
        .hasMessageContaining("8 to 1024 characters")
        .hasMessageNotContaining("abc");
  }

  private static void assertBad(RpcSecurity.TlsFiles files, String words) {
    assertThatThrownBy(() -> RpcSecurity.of(Optional.of(files), Optional.empty()))
        .isInstanceOf(IOException.class)
        .hasMessageContaining(words);
  }
}
