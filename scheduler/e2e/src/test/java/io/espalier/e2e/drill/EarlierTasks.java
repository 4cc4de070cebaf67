package io.espalier.e2e.drill;

import io.espalier.testkit.database.DatabaseServer;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Tasks that were done long ago: ten jobs on the nodes {@code h1.1}, {@code h1.2}, ... {@code
 * h2.1}, ... A leader has to load their statuses. If it lost them, it would start these tasks.
 */
final class EarlierTasks {
  private static final int JOBS = 10;

  private final int hosts;
  private final int nodesPerHost;

  /**
   * @param atLeast how many
   */
  EarlierTasks(int atLeast, int nodesPerHost) {
    this.nodesPerHost = nodesPerHost;
    this.hosts = (atLeast + JOBS * nodesPerHost - 1) / (JOBS * nodesPerHost);
  }

  int count() {
    return JOBS * hosts * nodesPerHost;
  }

  /** How many hosts have such tasks. */
  int hosts() {
    return hosts;
  }

  /** Their jobs, as the configuration has them, each with a comma behind it. */
  String jobs(Path command) {
    return hosts == 0
        ? ""
        : IntStream.rangeClosed(1, JOBS)
            .mapToObj(
                number ->
                    "\"bistro_job->earlier%d\": {\"owner\": \"drill\", \"command\": [\"%s\"]},"
                        .formatted(number, command))
            .collect(Collectors.joining("\n"));
  }

  /** Writes status and history of each, as a scheduler would have left them. */
  void store(DatabaseServer database) throws SQLException {
    for (int number = 1; number <= JOBS; number++) {
      long ringsBefore = (long) (number - 1) * hosts * nodesPerHost;
      String ring = ringsBefore + " + (h.seq - 1) * " + nodesPerHost + " + n.seq";
      String from = " from seq_1_to_" + hosts + " h join seq_1_to_" + nodesPerHost + " n";
      database.sql(
          "use drill",
          "insert into espalier_job (id, name) values (" + number + ", 'earlier" + number + "')",
          "insert into espalier_status (job, node, bits, since, backoff, position, attempts, epoch,"
              + " sequence, started, worker, ring, ended, cpu) select "
              + number
              + ", concat('h', h.seq, '.', n.seq), 4, unix_timestamp() * 1000, 0, 0, 1, 1, "
              + ring
              + ", unix_timestamp() * 1000 - 1000, 0, "
              + ring
              + ", 1, 10"
              + from,
          "insert into espalier_attempt (id, number, epoch, sequence, started, ended, worker, kind,"
              + " bits, core_dumped, cpu, memory, bytes_read, bytes_written) select 20 * ("
              + ring
              + ") + 1, 1, 1, "
              + ring
              + ", unix_timestamp() * 1000 - 1000, unix_timestamp() * 1000, 0, 'exited', 4, 0, 10,"
              + " -1, -1, -1"
              + from);
    }
  }
}
