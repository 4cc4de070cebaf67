package io.espalier.server.store.jdbc;

import io.espalier.core.json.Json;
import io.espalier.core.json.JsonWriter;
import io.espalier.core.running.Counters;
import io.espalier.core.running.Invocation;
import io.espalier.core.running.ResourceUsage;
import io.espalier.core.running.WorkerRef;
import io.espalier.core.status.Attempt;
import io.espalier.core.status.TaskKey;
import io.espalier.core.status.TaskStatus;
import io.espalier.core.status.store.StatusRow;
import io.espalier.core.status.store.StatusStore;
import io.espalier.core.status.store.TaskTotals;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Writes the statuses and the histories of tasks. It uses few statements of many rows, because the
 * number of round trips to a server determines the time. Each call is part of the open transaction.
 *
 * <p>Each task has a ring of {@link StatusStore#KEPT_ATTEMPTS} numbers for its newest ends. Rings
 * are allocated in the order of first ends, so that most writes are appends. Not thread-safe.
 */
final class TaskTables {
  static final int RING = StatusStore.KEPT_ATTEMPTS;

  /** The maximum number of nodes in one statement. */
  private static final int NODES_IN_STATEMENT = 512;

  private static final String COLUMNS =
      "bits, since, backoff, position, attempts, epoch, sequence, started, data, worker, waited";

  /** The columns to which the ends of a batch are added. */
  private static final String TOTALS = "ended, cpu, total_ran, total_waited";

  private final Session session;
  private final JobIds jobs;
  private final BoundStatement putRow;
  private final BoundStatement putRowWithEnds;
  private final BoundStatement addToTotals;
  private final BoundStatement putAttempt;
  private final BoundStatement deleteRing;
  private final Map<WorkerRef, Integer> workers = new HashMap<>();

  /**
   * Queries for the places of tasks of one job, by the number of tasks: powers of two, because to
   * prepare a query takes longer than to run it.
   */
  private final Map<Integer, BoundStatement> findPlaces = new HashMap<>();

  private long nextRing = -1;

  TaskTables(Session session, JobIds jobs) throws SQLException {
    this.session = session;
    this.jobs = jobs;
    String key = "job, node*, ";
    String overwrite =
        " " + session.dialect().onConflict("job, node") + " " + joined(COLUMNS, this::given);
    putRow = session.insert("INSERT INTO #status", key + COLUMNS, overwrite);
    putRowWithEnds =
        session.insert(
            "INSERT INTO #status",
            key + COLUMNS + ", ring, counts, " + TOTALS,
            overwrite
                + (", " + given("ring") + ", " + given("counts") + ", ")
                + joined(TOTALS, column -> given(column) + " + #status." + column));
    addToTotals =
        session.prepare(
            "UPDATE #status SET ring = ?, counts = ?, "
                + joined(TOTALS, column -> column + " = " + column + " + ?")
                + " WHERE job = ? AND node = ?");
    putAttempt =
        session.insert(
            "REPLACE INTO #attempt",
            "id, number, epoch, sequence, started, ended, worker, kind, bits, exit_code, {signal},"
                + " core_dumped, stop_reason, cpu, memory, {read}, {written}, message, fingerprint,"
                + " got_on, backoff, waited, process_started, counts, step",
            "");
    deleteRing = session.prepare("DELETE FROM #attempt WHERE id >= ? AND id < ?");
  }

  private String given(String column) {
    return column + " = " + session.dialect().given(column);
  }

  private static String joined(String columns, UnaryOperator<String> each) {
    return Stream.of(columns.split(", ", -1)).map(each).collect(Collectors.joining(", "));
  }

  /** Where the history of a task is stored, and what a batch adds to its totals. */
  private static final class Place {
    /** Negative: no ring is allocated yet. */
    private long ring;

    private long ended;
    private TaskTotals added = TaskTotals.NONE;

    /** What all attempts have counted. */
    private Counters counters;

    Place(long ring, long ended, Counters counters) {
      this.ring = ring;
      this.ended = ended;
      this.counters = counters;
    }
  }

  /** Processes the current row of a result. */
  interface Row {
    void read(ColumnReader row) throws SQLException;
  }

  /** Writes rows, and appends to the histories of tasks that have rows; ignores other attempts. */
  void put(List<StatusRow> rows, List<Attempt> attempts) throws SQLException {
    Map<TaskKey, Place> changed = append(rows, attempts);
    // In the order of the index: the tasks of one page follow each other.
    List<StatusRow> ordered = new ArrayList<>(rows);
    ordered.sort(Comparator.comparing(StatusRow::node));
    for (StatusRow row : ordered) {
      put(row, changed.remove(row.key()));
    }
    putRow.flush();
    putRowWithEnds.flush();
    for (Map.Entry<TaskKey, Place> left : changed.entrySet()) {
      Place place = left.getValue();
      putTotals(addToTotals, place)
          .number(jobs.number(left.getKey().job()))
          .key(left.getKey().node())
          .add();
    }
    addToTotals.flush();
    putAttempt.flush();
  }

  private Map<TaskKey, Place> append(List<StatusRow> rows, List<Attempt> attempts)
      throws SQLException {
    Map<TaskKey, Place> changed = new LinkedHashMap<>();
    if (attempts.isEmpty()) {
      return changed;
    }
    Map<TaskKey, Place> places = places(attempts);
    if (places.size() < attempts.size()) {
      // Some task may get its first row here, with its first end.
      rows.forEach(row -> places.putIfAbsent(row.key(), new Place(-1, 0, Counters.NONE)));
    }
    for (Attempt attempt : attempts) {
      TaskKey key = new TaskKey(attempt.job(), attempt.node());
      Place place = places.get(key);
      if (place != null) {
        add(attempt, place);
        changed.put(key, place);
      }
    }
    return changed;
  }

  /** Returns the places of these tasks; tasks without a row are missing. */
  private Map<TaskKey, Place> places(List<Attempt> attempts) throws SQLException {
    Set<TaskKey> keys = new LinkedHashSet<>();
    attempts.forEach(attempt -> keys.add(new TaskKey(attempt.job(), attempt.node())));
    Map<TaskKey, Place> places = new HashMap<>();
    for (Map.Entry<String, List<String>> ofJob : byJob(keys).entrySet()) {
      Integer job = jobs.known(ofJob.getKey());
      if (job != null) {
        for (List<String> some : pieces(ofJob.getValue())) {
          try (ColumnReader row = bind(findPlaces(some.size()), job, padded(some)).query()) {
            while (row.next()) {
              places.put(
                  new TaskKey(ofJob.getKey(), row.name()),
                  new Place(row.large(), row.large(), Counters.ofText(row.textOrEmpty())));
            }
          }
        }
      }
    }
    return places;
  }

  private BoundStatement findPlaces(int tasks) throws SQLException {
    int size = ceilingPowerOfTwo(tasks);
    BoundStatement known = findPlaces.get(size);
    if (known == null) {
      known =
          session.prepare(
              "SELECT node*, coalesce(ring, -1), ended, counts FROM #status" + where(size));
      findPlaces.put(size, known);
    }
    return known;
  }

  private static int ceilingPowerOfTwo(int number) {
    return number == 1 ? 1 : Integer.highestOneBit(number - 1) * 2;
  }

  /** Returns the nodes, and the last one again and again up to a power of two. */
  private static List<String> padded(List<String> nodes) {
    int size = ceilingPowerOfTwo(nodes.size());
    List<String> padded = new ArrayList<>(size);
    padded.addAll(nodes);
    padded.addAll(Collections.nCopies(size - nodes.size(), nodes.get(nodes.size() - 1)));
    return padded;
  }

  private void add(Attempt attempt, Place place) throws SQLException {
    if (place.ring < 0) {
      if (nextRing < 0) {
        String newest = session.ask("SELECT max(id) FROM #attempt");
        nextRing = 1 + (newest == null ? 0 : Long.parseLong(newest)) / RING;
      }
      place.ring = nextRing++;
    }
    ResourceUsage usage = attempt.usage();
    place.ended++;
    place.added = place.added.plus(attempt);
    place.counters = place.counters.plus(attempt.counters());
    putAttempt
        .large(place.ring * RING + place.ended % RING)
        .number(attempt.number())
        .large(attempt.invocation().epoch())
        .large(attempt.invocation().sequence())
        .large(attempt.invocation().startMillis())
        .large(attempt.endedAtMillis())
        .number(number(attempt.worker()))
        .text(attempt.kind().name())
        .number(attempt.bits())
        .numberOrNull(attempt.exitCode())
        .numberOrNull(attempt.signal())
        .flag(attempt.coreDumped())
        .text(attempt.stopReason() == null ? null : attempt.stopReason().name())
        .large(usage.cpuMillis())
        .large(usage.peakMemoryBytes())
        .large(usage.readBytes())
        .large(usage.writtenBytes())
        .textOrEmpty(attempt.message())
        .textOrEmpty(attempt.fingerprint())
        .flag(attempt.gotOn())
        .number(attempt.backoffSeconds())
        .large(attempt.waitedMillis())
        .large(attempt.startedAtMillis())
        .textOrEmpty(attempt.counters().text())
        .textOrEmpty(attempt.step())
        .add();
  }

  /** Sets ring and totals. */
  private static BoundStatement putTotals(BoundStatement to, Place place) throws SQLException {
    TaskTotals added = place.added;
    return to.large(place.ring)
        .textOrEmpty(place.counters.text())
        .large(added.ended())
        .large(added.cpuMillis())
        .large(added.ranMillis())
        .large(added.waitedMillis());
  }

  private void put(StatusRow row, @Nullable Place place) throws SQLException {
    TaskStatus status = row.status();
    Invocation invocation = row.invocation();
    Json.Obj data = row.storedData();
    BoundStatement put = place == null ? putRow : putRowWithEnds;
    put.number(jobs.number(row.job()))
        .name(row.node())
        .number(status.bits())
        .large(status.sinceMillis())
        .number(status.backoffSeconds())
        .number(status.position())
        .number(status.attempts())
        .large(invocation.epoch())
        .large(invocation.sequence())
        .large(invocation.startMillis())
        .text(data == null ? null : JsonWriter.compact(data))
        .number(number(row.worker()))
        .large(row.waitedMillis());
    (place == null ? put : putTotals(put, place)).add();
  }

  /** Deletes rows with their histories. */
  void delete(Collection<TaskKey> keys) throws SQLException {
    for (Map.Entry<String, List<String>> ofJob : byJob(keys).entrySet()) {
      Integer job = jobs.known(ofJob.getKey());
      if (job == null) {
        continue;
      }
      String rings = "SELECT ring FROM #status";
      select(session, rings, job, ofJob.getValue(), row -> deleteRing(row.largeOrNull()));
      deleteRing.flush();
      for (List<String> nodes : pieces(ofJob.getValue())) {
        try (BoundStatement delete = session.prepare("DELETE FROM #status" + where(nodes.size()))) {
          int unused = bind(delete, job, nodes).run();
        }
      }
    }
  }

  /**
   * Deletes some rows of a job with their histories.
   *
   * @return the number of rows; less than {@code atMost} when no more are left
   */
  int deleteSome(int job, int atMost) throws SQLException {
    int rows = 0;
    String last = "";
    try (BoundStatement some =
            session.prepare("SELECT node*, ring FROM #status WHERE job = ? ORDER BY node LIMIT ?");
        ColumnReader row = some.number(job).number(atMost).query()) {
      while (row.next()) {
        last = row.name();
        deleteRing(row.largeOrNull());
        rows++;
      }
    }
    deleteRing.flush();
    try (BoundStatement delete =
        session.prepare("DELETE FROM #status WHERE job = ? AND node <= ?")) {
      int unused = delete.number(job).key(last).run();
    }
    return rows;
  }

  private void deleteRing(@Nullable Long ring) throws SQLException {
    if (ring != null) {
      deleteRing.large(ring * RING).large((ring + 1) * RING).add();
    }
  }

  /** Returns the number of a worker; 0: our own process. */
  private int number(WorkerRef worker) throws SQLException {
    if (worker.isLocal()) {
      return 0;
    }
    Integer number = workers.get(worker);
    if (number == null) {
      number = find(worker);
      if (number == 0) {
        try (BoundStatement add = session.insert("INSERT INTO #worker", "shard*, instance", "")) {
          int unused = add.name(worker.shard()).large(worker.instance()).run();
        }
        number = find(worker);
      }
      workers.put(worker, number);
    }
    return number;
  }

  private int find(WorkerRef worker) throws SQLException {
    try (BoundStatement find =
            session.prepare("SELECT id FROM #worker WHERE shard = ? AND instance = ?");
        ColumnReader found = find.key(worker.shard()).large(worker.instance()).query()) {
      return found.next() ? found.number() : 0;
    }
  }

  /** Runs a query for some tasks of a job. */
  static void select(Session session, String sql, int job, List<String> nodes, Row each)
      throws SQLException {
    for (List<String> some : pieces(nodes)) {
      try (BoundStatement select = session.prepare(sql + where(some.size()));
          ColumnReader row = bind(select, job, some).query()) {
        while (row.next()) {
          each.read(row);
        }
      }
    }
  }

  private static String where(int nodes) {
    return " WHERE job = ? AND node IN " + Session.parameters(nodes);
  }

  private static BoundStatement bind(BoundStatement statement, int job, List<String> nodes)
      throws SQLException {
    statement.number(job);
    for (String node : nodes) {
      statement.key(node);
    }
    return statement;
  }

  private static Map<String, List<String>> byJob(Collection<TaskKey> keys) {
    Map<String, List<String>> byJob = new LinkedHashMap<>();
    for (TaskKey key : keys) {
      byJob.computeIfAbsent(key.job(), job -> new ArrayList<>()).add(key.node());
    }
    return byJob;
  }

  private static List<List<String>> pieces(List<String> all) {
    List<List<String>> pieces = new ArrayList<>();
    for (int from = 0; from < all.size(); from += NODES_IN_STATEMENT) {
      pieces.add(all.subList(from, Math.min(from + NODES_IN_STATEMENT, all.size())));
    }
    return pieces;
  }
}
