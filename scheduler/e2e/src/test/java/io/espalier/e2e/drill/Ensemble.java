package io.espalier.e2e.drill;

import io.espalier.e2e.Distribution;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/** Servers of ZooKeeper, each in a process of its own, with their default timers. */
final class Ensemble implements AutoCloseable {
  private final List<Process> servers = new ArrayList<>();
  private final String connect;

  private Ensemble(String connect) {
    this.connect = connect;
  }

  /**
   * @param count odd
   * @param basePort three for each server
   */
  static Ensemble start(Path site, int count, int basePort) {
    List<String> addresses = new ArrayList<>();
    StringBuilder quorum = new StringBuilder();
    for (int i = 1; i <= count; i++) {
      int port = basePort + 3 * i;
      addresses.add("127.0.0.1:" + port);
      quorum.append(
          "server.%d=127.0.0.1:%d:%d;127.0.0.1:%d%n".formatted(i, port + 1, port + 2, port));
    }
    Ensemble ensemble = new Ensemble(String.join(",", addresses));
    for (int i = 1; i <= count; i++) {
      ensemble.servers.add(server(site, i, quorum.toString()));
    }
    return ensemble;
  }

  private static Process server(Path site, int id, String quorum) {
    try {
      Path home = Files.createDirectories(site.resolve("zk" + id));
      Files.writeString(home.resolve("myid"), Integer.toString(id));
      Path file = home.resolve("zoo.cfg");
      Files.writeString(
          file,
          """
          tickTime=2000
          initLimit=10
          syncLimit=5
          standaloneEnabled=false
          admin.enableServer=false
          dataDir=%s
          %s"""
              .formatted(home, quorum));
      return new ProcessBuilder(
              Distribution.java(),
              "-XX:+UseSerialGC",
              "-XX:TieredStopAtLevel=1",
              "-Xmx128m",
              "-cp",
              classPath(),
              "org.apache.zookeeper.server.quorum.QuorumPeerMain",
              file.toString())
          .redirectErrorStream(true)
          .redirectOutput(home.resolve("log").toFile())
          .start();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** With the program's quiet logging. */
  private static String classPath() {
    return List.of(System.getProperty("java.class.path").split(File.pathSeparator, -1)).stream()
        .filter(entry -> !Files.exists(Path.of(entry, "logback-test.xml")))
        .collect(Collectors.joining(File.pathSeparator));
  }

  /** All servers, as clients name them. */
  String connect() {
    return connect;
  }

  /** {@code kill -9}. */
  void kill(int index) {
    servers.get(index).destroyForcibly();
  }

  @Override
  public void close() {
    servers.forEach(Process::destroyForcibly);
    for (Process server : servers) {
      try {
        boolean unused = server.waitFor(10, TimeUnit.SECONDS);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
