package io.espalier.benchmark;

import static io.espalier.benchmark.StoreBenchmark.check;
import static io.espalier.benchmark.StoreBenchmark.median;
import static io.espalier.benchmark.StoreBenchmark.row;
import static io.espalier.benchmark.StoreBenchmark.say;
import static io.espalier.benchmark.StoreBenchmark.seconds;
import static io.espalier.benchmark.StoreBenchmark.shuffled;
import static io.espalier.benchmark.StoreBenchmark.writer;

import io.espalier.core.status.StatusRow;
import io.espalier.core.status.StatusStore;
import io.espalier.json.JsonReader;
import io.espalier.server.store.mysql.MySqlAddress;
import io.espalier.server.store.mysql.MySqlStatusStore;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

/**
 * P4 and P7 in docs/benchmarks.md with the store in MySQL or MariaDB, beside the same work in bare
 * JDBC on the same table, in turns, in one run. Prints Markdown.
 *
 * <p>Arguments: {@code ROWS HOST:PORT USER}; the user has no password and may create and drop the
 * schema {@code espalier_benchmark}. The server's own settings decide how durable commits are.
 */
public final class MySqlStoreBenchmark {
  private static final int ROUNDS = 3;
  private static final String SCHEMA = "espalier_benchmark";

  private final String server;
  private final String user;

  private MySqlStoreBenchmark(String server, String user) {
    this.server = server;
    this.user = user;
  }

  public static void main(String[] args) throws Exception {
    if (args.length != 3) {
      throw new IllegalArgumentException("ROWS HOST:PORT USER");
    }
    MySqlStoreBenchmark benchmark = new MySqlStoreBenchmark(args[1], args[2]);
    int rows = Integer.parseInt(args[0]);
    say("| rows/s, of %,d in random order | by writer | bare loop | ratio |", rows);
    say("|---|---|---|---|");
    for (int batch : new int[] {1, 100, 1_000}) {
      benchmark.committing(shuffled(rows), batch);
    }
    say("");
    benchmark.loading(rows);
    benchmark.drop();
  }

  private void committing(int[] order, int batch) throws Exception {
    int count = Math.min(order.length, batch == 1 ? 1_000 : batch == 100 ? 100_000 : 500_000);
    double[] ours = new double[ROUNDS];
    double[] bare = new double[ROUNDS];
    for (int round = 0; round < ROUNDS; round++) {
      drop();
      try (StatusStore store = open()) {
        ours[round] = count / writer(store, order, count, batch);
      }
      drop();
      open().close();
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

  private void loading(int rows) throws Exception {
    drop();
    double[] ours = new double[ROUNDS];
    double[] bare = new double[ROUNDS];
    try (StatusStore store = open()) {
      double unused = writer(store, shuffled(rows), rows, 5_000);
      for (int round = 0; round < ROUNDS; round++) {
        long begin = System.nanoTime();
        int[] count = new int[1];
        store.load("backup", row -> count[0] += row.status().attempts());
        check(count[0], rows);
        ours[round] = seconds(begin);
        bare[round] = bareSelect(rows);
      }
    }
    say(
        "| load %,d rows | %.2f s (%.2f to %.2f) | bare SELECT %.2f s (%.2f to %.2f) |",
        rows, median(ours), ours[0], ours[ROUNDS - 1], median(bare), bare[0], bare[ROUNDS - 1]);
  }

  private StatusStore open() {
    return MySqlStatusStore.open(
        MySqlAddress.parse("mysql://" + user + "@" + server + "/" + SCHEMA),
        JsonReader.strict()::read);
  }

  private void drop() throws SQLException {
    try (Connection connection = raw("");
        Statement statement = connection.createStatement()) {
      statement.execute("DROP DATABASE IF EXISTS " + SCHEMA);
      statement.execute("CREATE DATABASE " + SCHEMA);
    }
  }

  private Connection raw(String schema) throws SQLException {
    return DriverManager.getConnection(
        "jdbc:mysql://" + server + "/" + schema + "?rewriteBatchedStatements=true", user, "");
  }

  private double bareLoop(int[] order, int count, int batch) throws SQLException {
    try (Connection connection = raw(SCHEMA);
        Statement statement = connection.createStatement()) {
      statement.execute("INSERT INTO espalier_job (name) VALUES ('backup')");
      connection.setAutoCommit(false);
      long begin = System.nanoTime();
      try (PreparedStatement put =
          connection.prepareStatement(
              "INSERT INTO espalier_status (job, node, bits, since, backoff, position, attempts,"
                  + " epoch, sequence, started, worker) VALUES (1, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0)"
                  + " ON DUPLICATE KEY UPDATE bits = VALUES(bits), since = VALUES(since),"
                  + " backoff = VALUES(backoff), position = VALUES(position),"
                  + " attempts = VALUES(attempts), epoch = VALUES(epoch),"
                  + " sequence = VALUES(sequence), started = VALUES(started)")) {
        int inBatch = 0;
        for (int i = 0; i < count; i++) {
          StatusRow row = row(order[i]);
          put.setBytes(1, row.node().getBytes(StandardCharsets.UTF_8));
          put.setInt(2, row.status().bits());
          put.setLong(3, row.status().sinceMillis());
          put.setInt(4, row.status().backoffSeconds());
          put.setInt(5, row.status().position());
          put.setInt(6, row.status().attempts());
          put.setLong(7, row.invocation().epoch());
          put.setLong(8, row.invocation().sequence());
          put.setLong(9, row.invocation().startMillis());
          put.addBatch();
          if (++inBatch == batch || i == count - 1) {
            put.executeBatch();
            connection.commit();
            inBatch = 0;
          }
        }
      }
      return seconds(begin);
    }
  }

  private double bareSelect(int expected) throws SQLException {
    long begin = System.nanoTime();
    try (Connection connection = raw(SCHEMA);
        Statement statement =
            connection.createStatement(ResultSet.TYPE_FORWARD_ONLY, ResultSet.CONCUR_READ_ONLY)) {
      // Streams, as the store does.
      statement.setFetchSize(Integer.MIN_VALUE);
      int count = 0;
      long sum = 0;
      try (ResultSet found =
          statement.executeQuery(
              "SELECT node, bits, since, backoff, position, attempts, epoch, sequence, started,"
                  + " data FROM espalier_status")) {
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
}
