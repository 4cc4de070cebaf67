package io.espalier.benchmark;

import io.espalier.core.running.Invocation;
import io.espalier.core.status.StatusRow;
import io.espalier.core.status.StatusStore;
import io.espalier.core.status.StatusStore.TakeOver;
import io.espalier.core.status.StoreTransaction;
import io.espalier.core.status.TaskStatus;
import io.espalier.core.status.TaskStatus.Main;
import io.espalier.json.JsonReader;
import io.espalier.server.store.SqliteStatusStore;
import io.espalier.server.store.StatusWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.sql.Types;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.stream.Stream;

/**
 * P4 and P7 in docs/benchmarks.md: how fast statuses become durable and how fast they are loaded,
 * each beside the same work in bare JDBC on the same table of the same file, in turns, in one run.
 * Prints Markdown.
 *
 * <p>Arguments: the numbers of rows; without any 10000, 300000 and 3000000. The files lie in a
 * temporary directory, so {@code -Djava.io.tmpdir} chooses the disk.
 */
public final class StoreBenchmark {
  private static final int ROUNDS = 3;

  private StoreBenchmark() {}

  public static void main(String[] args) throws Exception {
    List<Integer> sizes = Arrays.stream(args).map(Integer::valueOf).toList();
    if (sizes.isEmpty()) {
      sizes = List.of(10_000, 300_000, 3_000_000);
    }
    Path directory = Files.createTempDirectory("store-benchmark");
    try {
      opening(directory);
      for (int rows : sizes) {
        committing(directory, rows);
      }
      for (int rows : sizes) {
        loading(directory, rows);
      }
    } finally {
      try (Stream<Path> files = Files.list(directory)) {
        for (Path file : files.toList()) {
          Files.delete(file);
        }
      }
      Files.delete(directory);
    }
  }

  private static void opening(Path directory) throws IOException {
    Path file = directory.resolve("open.sqlite");
    say("| opening | ms |");
    say("|---|---|");
    for (String what :
        List.of("new file, first in this process", "existing file", "existing file, again")) {
      long begin = System.nanoTime();
      try (StatusStore store = open(file)) {
        store.openEpoch(TakeOver.PLAIN);
        say("| %s | %.0f |", what, millis(begin));
      }
    }
    Files.delete(file);
    long begin = System.nanoTime();
    try (StatusStore store = open(file)) {
      store.openEpoch(TakeOver.PLAIN);
      say("| new file, again | %.0f |%n", millis(begin));
    }
  }

  private static void committing(Path directory, int rows) throws Exception {
    say("| rows/s, of %,d in random order | by writer | bare loop | ratio |", rows);
    say("|---|---|---|---|");
    int[] order = shuffled(rows);
    for (int batch : new int[] {1, 100, 1_000}) {
      int most = batch == 1 ? 3_000 : batch == 100 ? 100_000 : 1_000_000;
      int count = Math.min(rows, most);
      double[] ours = new double[ROUNDS];
      double[] bare = new double[ROUNDS];
      for (int round = 0; round < ROUNDS; round++) {
        ours[round] = count / writer(fresh(directory), order, count, batch);
        bare[round] = count / bareLoop(fresh(directory), order, count, batch);
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

  private static void loading(Path directory, int rows) throws Exception {
    Path file = fresh(directory);
    writer(file, shuffled(rows), rows, 5_000);
    double[] ours = new double[ROUNDS];
    double[] bare = new double[ROUNDS];
    for (int round = 0; round < ROUNDS; round++) {
      ours[round] = load(file, rows);
      bare[round] = bareSelect(file, rows);
    }
    say(
        "| load %,d rows (%,d MB) | %.2f s (%.2f to %.2f) | bare SELECT %.2f s (%.2f to %.2f) |",
        rows,
        Files.size(file) >> 20,
        median(ours),
        ours[0],
        ours[ROUNDS - 1],
        median(bare),
        bare[0],
        bare[ROUNDS - 1]);
  }

  private static double writer(Path file, int[] order, int count, int batchSize)
      throws InterruptedException {
    try (StatusStore store = open(file)) {
      return writer(store, order, count, batchSize);
    }
  }

  static double writer(StatusStore store, int[] order, int count, int batchSize)
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

  private static double bareLoop(Path file, int[] order, int count, int batchSize)
      throws SQLException {
    open(file).close();
    try (Connection connection = raw(file);
        Statement statement = connection.createStatement()) {
      statement.execute("INSERT INTO job (name) VALUES ('backup')");
      connection.setAutoCommit(false);
      long begin = System.nanoTime();
      try (PreparedStatement put =
          connection.prepareStatement(
              "INSERT OR REPLACE INTO status (job, node, bits, since, backoff, position, attempts,"
                  + " epoch, sequence, started, data) VALUES (1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")) {
        int inBatch = 0;
        for (int i = 0; i < count; i++) {
          StatusRow row = row(order[i]);
          put.setString(1, row.node());
          put.setInt(2, row.status().bits());
          put.setLong(3, row.status().sinceMillis());
          put.setInt(4, row.status().backoffSeconds());
          put.setInt(5, row.status().position());
          put.setInt(6, row.status().attempts());
          put.setLong(7, row.invocation().epoch());
          put.setLong(8, row.invocation().sequence());
          put.setLong(9, row.invocation().startMillis());
          put.setNull(10, Types.VARCHAR);
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

  private static double load(Path file, int expected) {
    long begin = System.nanoTime();
    try (StatusStore store = open(file)) {
      int[] count = new int[1];
      store.load("backup", row -> count[0] += row.status().attempts());
      check(count[0], expected);
      return seconds(begin);
    }
  }

  private static double bareSelect(Path file, int expected) throws SQLException {
    long begin = System.nanoTime();
    try (Connection connection = raw(file);
        Statement statement = connection.createStatement();
        ResultSet found =
            statement.executeQuery(
                "SELECT node, bits, since, backoff, position, attempts, epoch, sequence, started,"
                    + " data FROM status WHERE job = 1")) {
      int count = 0;
      long sum = 0;
      while (found.next()) {
        sum += found.getString(1).length();
        for (int column = 2; column <= 9; column++) {
          sum += found.getLong(column);
        }
        sum += found.getString(10) == null ? 0 : 1;
        count++;
      }
      check(count, sum == 0 ? -1 : expected);
      return seconds(begin);
    }
  }

  static void check(int found, int expected) {
    if (found != expected) {
      throw new IllegalStateException(found + " rows instead of " + expected);
    }
  }

  static StatusRow row(int index) {
    return new StatusRow(
        "backup",
        "rack" + index / 10_000 + ".host" + index / 100 % 100 + ":db" + index % 100,
        TaskStatus.of(Main.DONE, 1_790_000_000_000L + index, 1),
        new Invocation(1, index, 1_790_000_000_000L + index));
  }

  static int[] shuffled(int count) {
    SplittableRandom random = new SplittableRandom(1);
    int[] order = new int[count];
    for (int i = 0; i < count; i++) {
      int other = random.nextInt(i + 1);
      order[i] = order[other];
      order[other] = i;
    }
    return order;
  }

  private static StatusStore open(Path file) {
    return SqliteStatusStore.open(file, JsonReader.strict()::read);
  }

  /** The bare loop is as durable as the store: write-ahead log, synced. */
  private static Connection raw(Path file) throws SQLException {
    Connection connection = DriverManager.getConnection("jdbc:sqlite:" + file);
    try (Statement statement = connection.createStatement()) {
      statement.execute("PRAGMA journal_mode = WAL");
      statement.execute("PRAGMA synchronous = FULL");
      statement.execute("PRAGMA wal_autocheckpoint = 8000");
      statement.execute("PRAGMA cache_size = -16384");
    }
    return connection;
  }

  private static Path fresh(Path directory) throws IOException {
    Path file = directory.resolve("statuses.sqlite");
    for (String suffix : List.of("", "-wal", "-shm")) {
      Files.deleteIfExists(Path.of(file + suffix));
    }
    return file;
  }

  static double median(double[] values) {
    Arrays.sort(values);
    return values[values.length / 2];
  }

  static double seconds(long beginNanos) {
    return (System.nanoTime() - beginNanos) / 1e9;
  }

  private static double millis(long beginNanos) {
    return (System.nanoTime() - beginNanos) / 1e6;
  }

  static void say(String format, Object... values) {
    System.out.printf(Locale.ROOT, format + "%n", values);
  }
}
