package io.espalier.thrift.rpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.sun.management.UnixOperatingSystemMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Ten thousand connections: what they cost is bounded, and whoever works goes on. */
@Tag("slow")
final class CrowdTest {
  private static final int CROWD = 10_000;
  private static final int MOST_GREETED = 1_000;
  private static final int MOST_STRANGERS = 200;
  private static final long MOST_BYTES = 64 << 20;

  private static final PeerOptions OPTIONS =
      PeerOptions.of("test", RpcSecurity.none())
          .withTimeouts(new RpcTimeouts(20_000, 20_000, 20_000, 60_000))
          .withLimits(
              RpcLimits.DEFAULT
                  .withMillis(60_000, 60_000, 60_000)
                  .withConnections(MOST_GREETED, MOST_STRANGERS));

  private final List<Socket> crowd = new ArrayList<>();

  @BeforeEach
  void enoughDescriptors() {
    long most = system().getMaxFileDescriptorCount();
    if (most < CROWD + 2_500) {
      System.err.println(
          "SKIPPED: " + CROWD + " connections, this process may open only " + most + " files");
    }
    Assumptions.assumeTrue(most >= CROWD + 2_500);
  }

  @AfterEach
  void close() throws IOException {
    for (Socket socket : crowd) {
      socket.close();
    }
  }

  private static UnixOperatingSystemMXBean system() {
    return (UnixOperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
  }

  private static long usedBytes() {
    System.gc();
    Runtime runtime = Runtime.getRuntime();
    return runtime.totalMemory() - runtime.freeMemory();
  }

  private interface Entry {
    void of(Socket socket) throws IOException;
  }

  private void crowds(Entry entry, int mostKept) throws Exception {
    try (EchoServer server = EchoServer.start(OPTIONS);
        RpcClients worker = new RpcClients(PeerRole.WORKER, OPTIONS)) {
      assertThat(EchoServer.echo(worker, server.address(), "before")).isEqualTo("before");
      long files = system().getOpenFileDescriptorCount();
      long bytes = usedBytes();
      for (int i = 0; i < CROWD; i++) {
        Socket socket = HostilePeersTest.connect(server.address());
        crowd.add(socket);
        entry.of(socket);
        if (i % 100 == 0) {
          // On the connection that it has: it is at work, so it keeps it.
          assertThat(EchoServer.echo(worker, server.address(), "hello")).isEqualTo("hello");
        }
        if (i % 1_000 == 0) {
          try (RpcClients newcomer = new RpcClients(PeerRole.WORKER, OPTIONS)) {
            assertThat(EchoServer.echo(newcomer, server.address(), "new")).isEqualTo("new");
          }
        }
      }
      // The server closes those that are too many on a thread of its own.
      await()
          .atMost(Duration.ofSeconds(10))
          .untilAsserted(
              () ->
                  assertThat(system().getOpenFileDescriptorCount() - files - CROWD)
                      .as("descriptors of the server")
                      .isLessThan(mostKept + 50L));
      assertThat(usedBytes() - bytes).as("bytes of the heap").isLessThan(MOST_BYTES);
    }
  }

  @Test
  void whoSaysNothing() throws Exception {
    crowds(socket -> {}, MOST_STRANGERS);
  }

  @Test
  void whoGreetsAndSaysNothingMore() throws Exception {
    crowds(HostilePeersTest::greet, MOST_GREETED);
  }

  @Test
  void whoGreetsAndAnnouncesTheLargestFrame() throws Exception {
    crowds(
        socket -> {
          HostilePeersTest.greet(socket);
          // 64 MiB are announced, and two bytes of them come.
          socket.getOutputStream().write(new byte[] {0x04, 0, 0, 0, 1, 2});
        },
        MOST_GREETED);
  }
}
