package io.espalier.benchmark;

import io.espalier.core.running.Invocation;
import io.espalier.core.status.TaskStatus;
import io.espalier.core.status.TaskStatus.Main;
import io.espalier.core.status.store.StatusRow;
import io.espalier.core.status.store.StatusStore;
import io.espalier.core.status.store.StatusStore.TakeOver;
import io.espalier.core.status.store.StoreTransaction;
import io.espalier.json.JsonReader;
import io.espalier.server.store.StatusWriter;
import io.espalier.server.store.jdbc.mysql.MySqlAddress;
import io.espalier.server.store.jdbc.mysql.MySqlStatusStore;
import io.espalier.server.store.jdbc.sqlite.SqliteDialect;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;

/**
 * P4 and P7 in docs/benchmarks.md: how fast statuses become durable and how fast they are loaded,
 * each beside the same work in bare JDBC on the same table, in turns, in one run. Prints Markdown.
 *
 * <p>Arguments: the numbers of rows; without any 10000, 300000 and 3000000. The files lie in a
 * temporary directory, so {@code -Djava.io.tmpdir} chooses the disk. With {@code mysql HOST:PORT
 * USER} in front, the store is in MySQL or MariaDB; the user has no password and may create and
 * drop the schema {@code espalier_benchmark}. The server's own settings decide how durable commits
 * are.
 */
public final class StoreBenchmark {
  private static final int ROUNDS = 3;

  private final Database database;

  private StoreBenchmark(Database database) {
    this.database = database;
  }

  /** A database with at most one store. */
  private interface Database {
    /** Deletes the store. */
    void drop() throws Exception;

    /** Opens the store and creates it if it is missing. */
    StatusStore open();

    /** Opens a connection that is as durable as the store. */
    Connection raw() throws SQLException;

    /** Returns what precedes the name of each table. */
    String prefix();

    /** Returns the statement of the bare loop that creates the job 1. */
    String addJob();

    /** Returns the statement of the bare loop for one row. */
    String putRow();

    /** Sets the name of a node. */
    void setNode(PreparedStatement put, String node) throws SQLException;

    /** Returns the fetch size with which rows arrive one by one. */
    int fetchSize();

    /** The largest number of rows to commit in batches of this size. */
    int mostRows(int batch);
  }

  public static void main(String[] args) throws Exception {
    boolean mysql = args.length > 2 && args[0].equals("mysql");
    List<Integer> sizes = Arrays.stream(args).skip(mysql ? 3 : 0).map(Integer::valueOf).toList();
    if (sizes.isEmpty()) {
      sizes = List.of(10_000, 300_000, 3_000_000);
    }
    if (mysql) {
      new StoreBenchmark(new MySql(args[1], args[2])).run(sizes);
      return;
    }
    Path directory = Files.createTempDirectory("store-benchmark");
    try {
      new StoreBenchmark(new Sqlite(directory.resolve("statuses.sqlite"))).run(sizes);
    } finally {
      Files.delete(directory);
    }
  }

  private void run(List<Integer> sizes) throws Exception {
    try {
      database.drop();
      opening();
      for (int rows : sizes) {
        committing(rows);
      }
      for (int rows : sizes) {
        loading(rows);
      }
    } finally {
      database.drop();
    }
  }

  private void opening() throws Exception {
    say("| opening | ms |");
    say("|---|---|");
    for (String what : List.of("new, first in this process", "existing", "existing, again")) {
      opening(what);
    }
    database.drop();
    opening("new, again");
    say("");
  }

  private void opening(String what) {
    long begin = System.nanoTime();
    try (StatusStore store = database.open()) {
      store.openEpoch(TakeOver.PLAIN);
      say("| %s | %.0f |", what, millis(begin));
    }
  }

  private void committing(int rows) throws Exception {
    say("| rows/s, of %,d in random order | by writer | bare loop | ratio |", rows);
    say("|---|---|---|---|");
    int[] order = shuffled(rows);
    for (int batch : new int[] {1, 100, 1_000}) {
      int count = Math.min(rows, database.mostRows(batch));
      double[] ours = new double[ROUNDS];
      double[] bare = new double[ROUNDS];
      for (int round = 0; round < ROUNDS; round++) {
        database.drop();
        try (StatusStore store = database.open()) {
          ours[round] = count / writer(store, order, count, batch);
        }
        database.drop();
        database.open().close();
        bare[round] = count / bareLoop(order, count, batch);
      }
      say(
          "| batches of %,d | %,.0f (%,.0f to %,.0f) | %,.0f (%,.0f to %,.0f) | %.2f |",
          batch,
          median(ours),
          ours[0],
          ours[ROUNDS - 1],
          median(bare),
          bare[0],
          bare[ROUNDS - 1],
          median(ours) / median(bare));
    }
    say("");
  }

  private void loading(int rows) throws Exception {
    database.drop();
    try (StatusStore store = database.open()) {
      double unused = writer(store, shuffled(rows), rows, 5_000);
    }
    double[] ours = new double[ROUNDS];
    double[] bare = new double[ROUNDS];
    for (int round = 0; round < ROUNDS; round++) {
      ours[round] = load(rows);
      bare[round] = bareSelect(rows);
    }
    say(
        "| load %,d rows | %.2f s (%.2f to %.2f) | bare SELECT %.2f s (%.2f to %.2f) |",
        rows, median(ours), ours[0], ours[ROUNDS - 1], median(bare), bare[0], bare[ROUNDS - 1]);
  }

  private static double writer(StatusStore store, int[] order, int count, int batchSize)
      throws InterruptedException {
    try (StatusWriter writer =
        new StatusWriter(
            store, store.openEpoch(TakeOver.PLAIN).epoch(), StatusWriter.Limits.DEFAULT)) {
      long begin = System.nanoTime();
      writer.start();
      List<StatusRow> rows = new ArrayList<>(batchSize);
      for (int i = 0; i < count; i++) {
        rows.add(row(order[i]));
        if (rows.size() == batchSize || i == count - 1) {
          var done = writer.submit(StoreTransaction.of(rows)).toCompletableFuture();
          rows.clear();
          // One at a time is what a single slow task sees; otherwise the loop runs ahead.
          if (batchSize == 1) {
            done.join();
          }
          while (writer.isSaturated()) {
            Thread.sleep(1);
          }
        }
      }
      writer.submit(StoreTransaction.EMPTY).toCompletableFuture().join();
      return seconds(begin);
    }
  }

  private double bareLoop(int[] order, int count, int batchSize) throws SQLException {
    try (Connection connection = database.raw();
        Statement statement = connection.createStatement()) {
      statement.execute(database.addJob());
      connection.setAutoCommit(false);
      long begin = System.nanoTime();
      try (PreparedStatement put = connection.prepareStatement(database.putRow())) {
        int inBatch = 0;
        for (int i = 0; i < count; i++) {
          StatusRow row = row(order[i]);
          database.setNode(put, row.node());
          put.setInt(2, row.status().bits());
          put.setLong(3, row.status().sinceMillis());
          put.setInt(4, row.status().backoffSeconds());
          put.setInt(5, row.status().position());
          put.setInt(6, row.status().attempts());
          put.setLong(7, row.invocation().epoch());
          put.setLong(8, row.invocation().sequence());
          put.setLong(9, row.invocation().startMillis());
          put.addBatch();
          if (++inBatch == batchSize || i == count - 1) {
            put.executeBatch();
            connection.commit();
            inBatch = 0;
          }
        }
      }
      return seconds(begin);
    }
  }

  private double load(int expected) {
    long begin = System.nanoTime();
    try (StatusStore store = database.open()) {
      int[] count = new int[1];
      store.load("backup", row -> count[0] += row.status().attempts());
      check(count[0], expected);
      return seconds(begin);
    }
  }

  private double bareSelect(int expected) throws SQLException {
    long begin = System.nanoTime();
    try (Connection connection = database.raw();
        Statement statement =
            connection.createStatement(ResultSet.TYPE_FORWARD_ONLY, ResultSet.CONCUR_READ_ONLY)) {
      // Streams, as the store does.
      statement.setFetchSize(database.fetchSize());
      int count = 0;
      long sum = 0;
      try (ResultSet found =
          statement.executeQuery(
              "SELECT node, bits, since, backoff, position, attempts, epoch, sequence, started,"
                  + " data FROM "
                  + database.prefix()
                  + "status WHERE job = 1")) {
        while (found.next()) {
          sum += found.getBytes(1).length;
          for (int column = 2; column <= 9; column++) {
            sum += found.getLong(column);
          }
          sum += found.getString(10) == null ? 0 : 1;
          count++;
        }
      }
      check(count, sum == 0 ? -1 : expected);
      return seconds(begin);
    }
  }

  private static void check(int found, int expected) {
    if (found != expected) {
      throw new IllegalStateException(found + " rows instead of " + expected);
    }
  }

  private static StatusRow row(int index) {
    return new StatusRow(
        "backup",
        "rack" + index / 10_000 + ".host" + index / 100 % 100 + ":db" + index % 100,
        TaskStatus.of(Main.DONE, 1_790_000_000_000L + index, 1),
        new Invocation(1, index, 1_790_000_000_000L + index));
  }

  private static int[] shuffled(int count) {
    SplittableRandom random = new SplittableRandom(1);
    int[] order = new int[count];
    for (int i = 0; i < count; i++) {
      int other = random.nextInt(i + 1);
      order[i] = order[other];
      order[other] = i;
    }
    return order;
  }

  /** A file. The bare loop is as durable as the store: write-ahead log, synced. */
  private record Sqlite(Path file) implements Database {
    @Override
    public void drop() throws IOException {
      for (String suffix : List.of("", "-wal", "-shm")) {
        Files.deleteIfExists(Path.of(file + suffix));
      }
    }

    @Override
    public StatusStore open() {
      return SqliteDialect.open(file, JsonReader.strict()::read);
    }

    @Override
    public Connection raw() throws SQLException {
      Connection connection = DriverManager.getConnection("jdbc:sqlite:" + file);
      try (Statement statement = connection.createStatement()) {
        statement.execute("PRAGMA journal_mode = WAL");
        statement.execute("PRAGMA synchronous = FULL");
        statement.execute("PRAGMA wal_autocheckpoint = 8000");
        statement.execute("PRAGMA cache_size = -16384");
      }
      return connection;
    }

    @Override
    public String prefix() {
      return "";
    }

    @Override
    public String addJob() {
      return "INSERT INTO job (id, name) VALUES (1, 'backup')";
    }

    @Override
    public String putRow() {
      return "INSERT OR REPLACE INTO status (job, node, bits, since, backoff, position, attempts,"
          + " epoch, sequence, started) VALUES (1, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
    }

    @Override
    public void setNode(PreparedStatement put, String node) throws SQLException {
      put.setString(1, node);
    }

    @Override
    public int fetchSize() {
      return 0;
    }

    @Override
    public int mostRows(int batch) {
      return batch == 1 ? 3_000 : batch == 100 ? 100_000 : 1_000_000;
    }
  }

  /** A schema of a server. */
  private record MySql(String server, String user) implements Database {
    private static final String SCHEMA = "espalier_benchmark";

    @Override
    public void drop() throws SQLException {
      try (Connection connection = connect("");
          Statement statement = connection.createStatement()) {
        statement.execute("DROP DATABASE IF EXISTS " + SCHEMA);
        statement.execute("CREATE DATABASE " + SCHEMA);
      }
    }

    @Override
    public StatusStore open() {
      return MySqlStatusStore.open(
          MySqlAddress.parse("mysql://" + user + "@" + server + "/" + SCHEMA),
          JsonReader.strict()::read);
    }

    @Override
    public Connection raw() throws SQLException {
      return connect(SCHEMA);
    }

    private Connection connect(String schema) throws SQLException {
      return DriverManager.getConnection(
          "jdbc:mysql://" + server + "/" + schema + "?rewriteBatchedStatements=true", user, "");
    }

    @Override
    public String prefix() {
      return "espalier_";
    }

    @Override
    public String addJob() {
      return "INSERT INTO espalier_job (id, name) VALUES (1, 'backup')";
    }

    @Override
    public String putRow() {
      return "INSERT INTO espalier_status (job, node, bits, since, backoff, position, attempts,"
          + " epoch, sequence, started, worker) VALUES (1, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0)"
          + " ON DUPLICATE KEY UPDATE bits = VALUES(bits), since = VALUES(since),"
          + " backoff = VALUES(backoff), position = VALUES(position),"
          + " attempts = VALUES(attempts), epoch = VALUES(epoch),"
          + " sequence = VALUES(sequence), started = VALUES(started)";
    }

    @Override
    public void setNode(PreparedStatement put, String node) throws SQLException {
      put.setBytes(1, node.getBytes(StandardCharsets.UTF_8));
    }

    @Override
    public int fetchSize() {
      return Integer.MIN_VALUE;
    }

    @Override
    public int mostRows(int batch) {
      return batch == 1 ? 1_000 : batch == 100 ? 100_000 : 500_000;
    }
  }

  private static double median(double[] values) {
    Arrays.sort(values);
    return values[values.length / 2];
  }

  private static double seconds(long beginNanos) {
    return (System.nanoTime() - beginNanos) / 1e9;
  }

  private static double millis(long beginNanos) {
    return (System.nanoTime() - beginNanos) / 1e6;
  }

  private static void say(String format, Object... values) {
    System.out.printf(Locale.ROOT, format + "%n", values);
  }
}
