package io.espalier.server.store.jdbc.mysql;

import io.espalier.core.config.Partition;
import io.espalier.core.json.Json;
import io.espalier.core.json.JsonWriter;
import io.espalier.core.status.JsonDecoder;
import io.espalier.core.status.store.StaleEpochException;
import io.espalier.core.status.store.StatusRow;
import io.espalier.core.status.store.StoreException;
import io.espalier.core.subtree.SubtreeOwners;
import io.espalier.core.subtree.SubtreeRow;
import io.espalier.server.store.archive.ArchivedStatusLine;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Owners of subtrees in a schema that all schedulers name ({@code --subtree-owners}). Every change
 * locks the row of its scheduler first, and compares the epoch there: the change of an earlier
 * leader, or one that was still on its way when its process ended, comes before or fails.
 * Thread-safe.
 */
public final class MySqlSubtreeOwners implements SubtreeOwners {
  private static final int SOCKET_MILLIS = 30_000;
  private static final int PART_CHARACTERS = 1 << 20;
  private static final String DELETE_STATUSES =
      "DELETE FROM espalier_subtree_status WHERE name = ?";
  private static final int DEADLOCK = 1213;
  private static final int TRIES = 5;

  private static final List<String> TABLES =
      List.of(
          """
          CREATE TABLE IF NOT EXISTS espalier_subtree_scheduler (
            shard INT NOT NULL PRIMARY KEY,
            shards INT NOT NULL,
            config LONGBLOB NOT NULL,
            epoch BIGINT NOT NULL,
            tags LONGBLOB NOT NULL
          ) ENGINE=InnoDB
          """,
          """
          CREATE TABLE IF NOT EXISTS espalier_subtree (
            name VARBINARY(1024) NOT NULL PRIMARY KEY,
            owner INT NOT NULL,
            taken BOOLEAN NOT NULL
          ) ENGINE=InnoDB ROW_FORMAT=DYNAMIC
          """,
          """
          CREATE TABLE IF NOT EXISTS espalier_subtree_status (
            id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
            name VARBINARY(1024) NOT NULL,
            body LONGBLOB NOT NULL,
            KEY (name)
          ) ENGINE=InnoDB ROW_FORMAT=DYNAMIC
          """,
          // Its only row is the lock of the schedulers that begin.
          """
          CREATE TABLE IF NOT EXISTS espalier_subtree_begin (
            id INT NOT NULL PRIMARY KEY
          ) ENGINE=InnoDB
          """);

  private final MySqlAddress address;
  private final MySqlSession session;
  private final Partition shard;
  private final long epoch;
  private final JsonDecoder json;

  private MySqlSubtreeOwners(
      MySqlAddress address, MySqlSession session, Partition shard, long epoch, JsonDecoder json) {
    this.address = address;
    this.session = session;
    this.shard = shard;
    this.epoch = epoch;
    this.json = json;
  }

  /**
   * Creates the tables if they are missing, and begins the leadership of a scheduler there: earlier
   * leaders of it change nothing any more.
   *
   * @param config URI of the configuration, which all schedulers must share
   * @param epoch of the leadership
   * @throws StoreException with one clear line when that is not possible; also when the schema
   *     belongs to another configuration or to another number of schedulers
   */
  public static MySqlSubtreeOwners open(
      MySqlAddress address, Partition shard, String config, long epoch, JsonDecoder json) {
    MySqlSubtreeOwners owners =
        new MySqlSubtreeOwners(
            address, MySqlSession.of(address, Map.of(), SOCKET_MILLIS), shard, epoch, json);
    owners.session.ask(
        open -> {
          try (Statement create = open.createStatement()) {
            for (String table : TABLES) {
              create.execute(table);
            }
            create.execute("INSERT IGNORE INTO espalier_subtree_begin (id) VALUES (1)");
          }
          return true;
        });
    owners.inTransaction(open -> owners.begin(open, config));
    return owners;
  }

  private boolean begin(Connection open, String config) throws SQLException {
    // Without this lock, all schedulers that begin at once would lock the gap where their rows are
    // missing, and each would wait for the others with its insertion.
    try (Statement lock = open.createStatement()) {
      lock.executeQuery("SELECT id FROM espalier_subtree_begin FOR UPDATE").close();
    }
    requireEpoch(open);
    long before = 0;
    try (PreparedStatement select =
            open.prepareStatement(
                "SELECT shard, shards, config, epoch FROM espalier_subtree_scheduler FOR UPDATE");
        ResultSet found = select.executeQuery()) {
      while (found.next()) {
        if (found.getInt(2) != shard.count()) {
          throw refused(
              "belongs to "
                  + found.getInt(2)
                  + " schedulers, and this one is "
                  + shard
                  + ": use another schema for another number of schedulers");
        }
        String other = text(found.getBytes(3));
        if (!other.equals(config)) {
          throw refused("belongs to the configuration " + other + ", not to " + config);
        }
        before = found.getInt(1) == shard.index() ? found.getLong(4) : before;
      }
    }
    if (before >= epoch) {
      throw refused(
          "knows a later leader of shard "
              + shard
              + " (epoch "
              + before
              + ", this one has "
              + epoch
              + "): another scheduler has the same number, or the status store was replaced");
    }
    return MySqlSession.execute(
            open,
            "INSERT INTO espalier_subtree_scheduler (shard, shards, config, epoch, tags)"
                + " VALUES (?, ?, ?, ?, '') ON DUPLICATE KEY UPDATE epoch = VALUES(epoch)",
            shard.index(),
            shard.count(),
            bytes(config),
            epoch)
        > 0;
  }

  private StoreException refused(String why) {
    return new StoreException("--subtree-owners " + address + " " + why, false, null);
  }

  @Override
  public List<SubtreeRow> rows() {
    return session.ask(
        open -> {
          List<SubtreeRow> rows = new ArrayList<>();
          try (PreparedStatement select =
                  open.prepareStatement("SELECT name, owner, taken FROM espalier_subtree");
              ResultSet found = select.executeQuery()) {
            while (found.next()) {
              rows.add(
                  new SubtreeRow(text(found.getBytes(1)), found.getInt(2), found.getBoolean(3)));
            }
          }
          return rows;
        });
  }

  @Override
  public void release(String name, int to, Consumer<Consumer<JobStatuses>> statuses) {
    change(
        open -> {
          SubtreeRow row = row(open, name);
          boolean mine =
              row == null ? shard.owns(name) : row.owner() == shard.index() && row.taken();
          if (!mine) {
            return false;
          }
          int unused = MySqlSession.execute(open, DELETE_STATUSES, bytes(name));
          statuses.accept(job -> write(open, name, job));
          return MySqlSession.execute(
                  open,
                  "INSERT INTO espalier_subtree (name, owner, taken) VALUES (?, ?, 0)"
                      + " ON DUPLICATE KEY UPDATE owner = VALUES(owner), taken = 0",
                  bytes(name),
                  to)
              > 0;
        });
  }

  private void write(Connection open, String name, JobStatuses job) {
    List<Json> part = new ArrayList<>();
    int size = 0;
    for (StatusRow row : job.rows()) {
      Json.Obj line = ArchivedStatusLine.of(row).build();
      part.add(line);
      size += JsonWriter.compact(line).length();
      if (size > PART_CHARACTERS) {
        write(open, name, job, part);
        part.clear();
        size = 0;
      }
    }
    if (!part.isEmpty()) {
      write(open, name, job, part);
    }
  }

  private void write(Connection open, String name, JobStatuses job, List<Json> part) {
    Json.Obj body =
        Json.object()
            .put("job", job.job())
            .put("create_time", job.createTime())
            .put("rows", new Json.Arr(part))
            .build();
    try {
      int unused =
          MySqlSession.execute(
              open,
              "INSERT INTO espalier_subtree_status (name, body) VALUES (?, ?)",
              bytes(name),
              bytes(JsonWriter.compact(body)));
    } catch (SQLException e) {
      throw MySqlErrorTranslator.translate(address, e);
    }
  }

  private static @Nullable SubtreeRow row(Connection open, String name) throws SQLException {
    try (PreparedStatement select =
        open.prepareStatement(
            "SELECT owner, taken FROM espalier_subtree WHERE name = ? FOR UPDATE")) {
      select.setBytes(1, bytes(name));
      try (ResultSet found = select.executeQuery()) {
        return found.next() ? new SubtreeRow(name, found.getInt(1), found.getBoolean(2)) : null;
      }
    }
  }

  @Override
  public void statuses(String name, Consumer<JobStatuses> statuses) {
    List<JobStatuses> all =
        session.ask(
            open -> {
              List<JobStatuses> parts = new ArrayList<>();
              try (PreparedStatement select =
                  open.prepareStatement(
                      "SELECT body FROM espalier_subtree_status WHERE name = ? ORDER BY id")) {
                select.setBytes(1, bytes(name));
                try (ResultSet found = select.executeQuery()) {
                  while (found.next()) {
                    parts.add(part(text(found.getBytes(1))));
                  }
                }
              }
              return parts;
            });
    all.forEach(statuses);
  }

  private JobStatuses part(String body) {
    Json read = json.read(body).value();
    if (read != null
        && JsonDecoder.withoutPositions(read) instanceof Json.Obj part
        && part.get("job") instanceof Json.Str job
        && part.get("create_time") instanceof Json.Num time
        && part.get("rows") instanceof Json.Arr rows) {
      List<StatusRow> found = new ArrayList<>();
      for (Json row : rows.items()) {
        if (!(row instanceof Json.Obj line)) {
          throw new StoreException(address + ": a status cannot be read", false, null);
        }
        found.add(ArchivedStatusLine.read(job.value(), line));
      }
      return new JobStatuses(job.value(), time.value().longValue(), found);
    }
    throw new StoreException(address + ": statuses cannot be read", false, null);
  }

  @Override
  public void take(String name) {
    change(
        open -> {
          int taken =
              MySqlSession.execute(
                  open,
                  "UPDATE espalier_subtree SET taken = 1 WHERE name = ? AND owner = ? AND taken = 0",
                  bytes(name),
                  shard.index());
          if (taken == 1) {
            int unused = MySqlSession.execute(open, DELETE_STATUSES, bytes(name));
          }
          return taken == 1;
        });
  }

  @Override
  public List<Integer> compareTags(String mine) {
    return session.ask(
        open -> {
          int unused =
              MySqlSession.execute(
                  open,
                  "UPDATE espalier_subtree_scheduler SET tags = ? WHERE shard = ? AND epoch = ?",
                  bytes(mine),
                  shard.index(),
                  epoch);
          List<Integer> others = new ArrayList<>();
          try (PreparedStatement select =
                  open.prepareStatement(
                      "SELECT shard, tags FROM espalier_subtree_scheduler ORDER BY shard");
              ResultSet found = select.executeQuery()) {
            while (found.next()) {
              String tags = text(found.getBytes(2));
              if (!tags.isEmpty() && !tags.equals(mine)) {
                others.add(found.getInt(1));
              }
            }
          }
          return others;
        });
  }

  // ---- the connection

  /** Makes a change of this scheduler, all or nothing. */
  private void change(MySqlSession.Work<Boolean> change) {
    inTransaction(
        open -> {
          requireEpoch(open);
          return change.on(open);
        });
  }

  private void inTransaction(MySqlSession.Work<Boolean> change) {
    boolean unused =
        session.ask(
            open -> {
              for (int tries = 1; ; tries++) {
                try {
                  return transact(open, change);
                } catch (SQLException e) {
                  // Two schedulers that release subtrees at once may wait for each other.
                  if (e.getErrorCode() != DEADLOCK || tries == TRIES) {
                    throw e;
                  }
                }
              }
            });
  }

  private boolean transact(Connection open, MySqlSession.Work<Boolean> change) throws SQLException {
    open.setAutoCommit(false);
    boolean complete = false;
    try {
      boolean changed = change.on(open);
      open.commit();
      complete = true;
      return changed;
    } finally {
      if (!complete) {
        open.rollback();
      }
      open.setAutoCommit(true);
    }
  }

  private void requireEpoch(Connection open) throws SQLException {
    try (PreparedStatement select =
        open.prepareStatement(
            "SELECT epoch FROM espalier_subtree_scheduler WHERE shard = ? FOR UPDATE")) {
      select.setInt(1, shard.index());
      try (ResultSet found = select.executeQuery()) {
        if (found.next() && found.getLong(1) > epoch) {
          throw new StaleEpochException("--subtree-owners " + address, epoch, found.getLong(1));
        }
      }
    }
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private static String text(byte[] bytes) {
    return new String(bytes, StandardCharsets.UTF_8);
  }

  /** Closes the connection; the next call opens another. */
  @Override
  public void close() {
    session.close();
  }
}
