package io.espalier.server.store.jdbc;

import io.espalier.core.status.Attempt;
import io.espalier.core.status.store.TaskHistory;
import io.espalier.core.status.store.TaskTotals;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Reads histories of several tasks of a job in few statements. It computes the places of attempts
 * in the rings instead of joining the tables: a join by ranges may read the whole table of
 * attempts. Not thread-safe.
 */
final class HistoryReader {
  /** The maximum number of attempts in one statement. */
  private static final int ATTEMPTS_IN_STATEMENT = 1000;

  private static final int RING = TaskTables.RING;

  private final Session session;
  private final RowMapper mapper;
  private final Map<String, TaskTotals> totals = new HashMap<>();

  /** The nodes of attempts by their numbers; of each node, oldest first. */
  private final Map<Long, String> nodes = new LinkedHashMap<>();

  HistoryReader(Session session, RowMapper mapper) {
    this.session = session;
    this.mapper = mapper;
  }

  /**
   * @param id number of the job
   */
  Map<String, TaskHistory> read(String job, int id, Collection<String> of) throws SQLException {
    TaskTables.select(
        session,
        "SELECT node*, ring, ended, cpu, total_ran, total_waited, counts FROM #status",
        id,
        List.copyOf(Set.copyOf(of)),
        row -> place(job, row));
    Map<Long, Attempt> attempts = new HashMap<>();
    Iterator<Long> ids = nodes.keySet().iterator();
    while (ids.hasNext()) {
      List<Long> some = new ArrayList<>();
      while (ids.hasNext() && some.size() < ATTEMPTS_IN_STATEMENT) {
        some.add(ids.next());
      }
      load(job, some, attempts);
    }
    Map<String, List<Attempt>> found = new HashMap<>();
    nodes.forEach(
        (number, node) -> {
          Attempt attempt = attempts.get(number);
          if (attempt != null) {
            found.computeIfAbsent(node, name -> new ArrayList<>()).add(attempt);
          }
        });
    Map<String, TaskHistory> histories = new HashMap<>();
    totals.forEach(
        (node, sum) ->
            histories.put(node, new TaskHistory(sum, found.getOrDefault(node, List.of()))));
    return histories;
  }

  private void place(String job, ColumnReader row) throws SQLException {
    String node = row.name();
    Long ring = row.largeOrNull();
    if (ring == null) {
      return;
    }
    TaskTotals sum = mapper.totals(job, node, row);
    totals.put(node, sum);
    for (long i = Math.max(1, sum.ended() - RING + 1); i <= sum.ended(); i++) {
      nodes.put(ring * RING + i % RING, node);
    }
  }

  private void load(String job, List<Long> numbers, Map<Long, Attempt> attempts)
      throws SQLException {
    try (BoundStatement select =
        session.prepare(
            "SELECT id, number, epoch, sequence, started, ended, worker, kind, bits, exit_code,"
                + " {signal}, core_dumped, stop_reason, cpu, memory, {read}, {written}, message,"
                + " fingerprint, got_on, backoff, waited, process_started, counts, step"
                + " FROM #attempt WHERE id IN "
                + Session.parameters(numbers.size()))) {
      for (long number : numbers) {
        select.large(number);
      }
      try (ColumnReader row = select.query()) {
        while (row.next()) {
          long number = row.large();
          attempts.put(number, mapper.attempt(job, nodes.getOrDefault(number, ""), row));
        }
      }
    }
  }
}
