package io.espalier.server.process;

import io.espalier.core.config.Partition;
import io.espalier.core.running.Invocation;
import io.espalier.core.status.StatusRow;
import io.espalier.core.status.StatusStore;
import io.espalier.core.status.StatusStore.TakeOver;
import io.espalier.core.status.StatusStore.Taken;
import io.espalier.core.status.StoreException;
import io.espalier.core.status.StoreTransaction;
import io.espalier.core.status.TaskStatus;
import io.espalier.json.JsonReader;
import io.espalier.server.exit.CommandException;
import io.espalier.server.exit.ExitCode;
import io.espalier.server.store.DataDirectory;
import io.espalier.server.store.DataDirectoryException;
import io.espalier.server.store.SqliteStatusStore;
import io.espalier.server.store.mysql.MySqlAddress;
import io.espalier.server.store.mysql.MySqlStatusStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Takes over the statuses of schedulers that had divided the nodes in another way ({@code
 * --statuses-from}). Of a task that several know, and this scheduler too, the newest status counts,
 * so that it can be done again. Histories stay where they are.
 *
 * <p>Nobody may go on with what was taken: the store is marked as passed on, and every scheduler
 * but one that takes statuses itself refuses it. First all stores are looked at, then they are
 * taken, so that a mistake in one leaves the others as they were.
 */
final class StatusImport {
  private static final Logger LOG = LoggerFactory.getLogger(StatusImport.class);
  private static final int ROWS_PER_COMMIT = 5_000;

  private final StatusStore into;
  private final long epoch;
  private long taken;

  private StatusImport(StatusStore into, long epoch) {
    this.into = into;
    this.epoch = epoch;
  }

  /** An earlier store, opened. */
  private record Opened(String name, DataDirectoryOwner owner, StatusStore store) {}

  /** What is to be done with it. */
  private interface Use {
    void with(Opened store);
  }

  /**
   * Binds a store to what it serves. One that was passed on is refused, unless statuses are taken
   * from where they went to.
   *
   * @throws CommandException when it was passed on
   */
  static void bind(ProcessOptions options, DataDirectory data, StatusStore store) {
    DataDirectoryOwner owner = DataDirectoryOwner.parse(options.source());
    boolean mySql = store instanceof MySqlStatusStore;
    String bound = store instanceof MySqlStatusStore schema ? schema.source() : null;
    boolean marked = owner.passedOn().equals(bound);
    boolean passedOn = mySql ? marked : data.isPassedOn();
    if (passedOn && options.statusesFrom().isEmpty() && !options.frozen()) {
      throw new CommandException(
          ExitCode.USAGE,
          (mySql ? store.description() : "data directory " + data.root())
              + ": schedulers that divide the nodes in another way have taken its statuses"
              + " (--statuses-from) and go on with them; to come back, stop those and take theirs"
              + " with --statuses-from");
    }
    store.bindSource(marked ? owner.passedOn() : owner.toString());
  }

  /**
   * Takes them, if there are any to take; the store is then this scheduler's again.
   *
   * @param into bound, by {@link #bind}
   * @param how the store is taken over
   * @return the epoch by which to go on, and what was known of the leadership before
   * @throws CommandException when one cannot be had: it is in use, belongs to another
   *     configuration, or its last scheduler did not see the end of its tasks; or when one is
   *     missing
   */
  static Taken take(ProcessOptions options, DataDirectory data, StatusStore into, TakeOver how) {
    if (options.statusesFrom().isEmpty()) {
      return into.openEpoch(how);
    }
    List<DataDirectoryOwner> owners = new ArrayList<>();
    long[] highest = {0};
    for (ImportSource earlier : options.statusesFrom()) {
      use(
          earlier,
          options.configUri(),
          false,
          store -> {
            store.store.running().stream().findFirst().ifPresent(row -> refuseRunning(store, row));
            owners.add(store.owner);
            highest[0] = Math.max(highest[0], store.store.epoch());
          });
    }
    requireAll(owners);
    // Tokens of tasks begin with the epoch, and only ever grow, whatever store they came from.
    Taken taken =
        into.openEpoch(new TakeOver(Math.max(how.atLeast(), highest[0] + 1), how.leaseMillis()));
    for (ImportSource earlier : options.statusesFrom()) {
      StatusImport taking = new StatusImport(into, taken.epoch());
      use(earlier, options.configUri(), true, taking::all);
      LOG.info("took {} statuses from {}", taking.taken, earlier);
    }
    data.takeBack();
    if (into instanceof MySqlStatusStore schema) {
      DataDirectoryOwner owner = DataDirectoryOwner.parse(options.source());
      if (owner.passedOn().equals(schema.source())) {
        schema.pass(owner.passedOn(), owner.toString());
        Taken again = into.openEpoch(how);
        return new Taken(again.epoch(), again.storeId(), taken.earlierLeaseMillis(), taken.first());
      }
    }
    return taken;
  }

  /**
   * Refuses to begin with nothing beside data directories of the same configuration that was
   * divided in another way: all would be done again.
   */
  static void requireNothingBeside(ProcessOptions options, DataDirectory data) {
    Path parent = data.root().getParent();
    if (parent == null
        || options.store() != ProcessOptions.Store.SQLITE
        || options.fresh()
        || options.frozen()
        || !options.statusesFrom().isEmpty()
        || Files.exists(data.statusFile())) {
      return;
    }
    Map<String, Path> others = new TreeMap<>();
    for (Path other : DataDirectory.beside(data.root())) {
      String source = DataDirectory.sourceOf(other);
      DataDirectoryOwner owner = source == null ? null : DataDirectoryOwner.parse(source);
      if (owner != null
          && owner.configUri().equals(options.configUri())
          && owner.shard().count() != options.shard().count()) {
        others.put(other.toString(), other);
      }
    }
    if (!others.isEmpty()) {
      throw new CommandException(
          ExitCode.USAGE,
          "there are no statuses in "
              + data.root()
              + " yet, but there are some of schedulers that divide the nodes in another way, and"
              + " what they have done would be done again: take them with --statuses-from "
              + String.join(",", others.keySet())
              + ", or begin with a --data-dir that is somewhere else");
    }
  }

  /** What a missing one has done would be done again. */
  private static void requireAll(List<DataDirectoryOwner> owners) {
    Map<Integer, TreeSet<Integer>> divisions = new TreeMap<>();
    for (DataDirectoryOwner owner : owners) {
      Partition shard = owner.shard();
      divisions.computeIfAbsent(shard.count(), unused -> new TreeSet<>()).add(shard.index());
    }
    divisions.forEach(
        (count, there) -> {
          for (int i = 0; i < count; i++) {
            if (!there.contains(i)) {
              throw new CommandException(
                  ExitCode.USAGE,
                  "--statuses-from names some of %d schedulers, and not that of shard %d/%d: what it has done would be done again"
                      .formatted(count, i, count));
            }
          }
        });
  }

  private static void use(ImportSource earlier, String configUri, boolean taking, Use use) {
    try {
      if (earlier.schema() != null) {
        useSchema(earlier.schema(), configUri, use);
      } else {
        useDirectory(Objects.requireNonNull(earlier.directory()), configUri, taking, use);
      }
    } catch (DataDirectoryException | StoreException e) {
      throw new CommandException(ExitCode.USAGE, "--statuses-from: " + e.getMessage(), e);
    }
  }

  private static void useSchema(MySqlAddress schema, String configUri, Use use) {
    try (MySqlStatusStore store = MySqlStatusStore.open(schema, JsonReader::parse)) {
      use.with(
          new Opened(
              schema.toString(), owner(schema.toString(), store.source(), configUri), store));
    }
  }

  private static void useDirectory(Path directory, String configUri, boolean taking, Use use) {
    String name = directory.toString();
    String source = DataDirectory.sourceOf(directory);
    DataDirectoryOwner owner = owner(name, source, configUri);
    // Locked, so that nobody writes to it and no task of it starts.
    try (DataDirectory other = DataDirectory.open(directory, owner.toString())) {
      if (!Files.exists(other.statusFile())) {
        throw refused(name, "has no statuses in a file: those in MySQL are taken from mysql://...");
      }
      try (SqliteStatusStore store =
          SqliteStatusStore.open(other.statusFile(), JsonReader::parse)) {
        use.with(new Opened(name, owner, store));
      }
      if (taking) {
        other.passOn();
      }
    }
  }

  private static DataDirectoryOwner owner(String name, @Nullable String source, String configUri) {
    if (source == null) {
      throw refused(name, "was never a scheduler's");
    }
    DataDirectoryOwner owner = DataDirectoryOwner.parse(source);
    if (!owner.configUri().equals(configUri)) {
      throw refused(name, "belongs to " + source + ", not to " + configUri);
    }
    return owner;
  }

  private void all(Opened from) {
    StatusStore store = from.store;
    if (store instanceof MySqlStatusStore schema) {
      // Fenced first: whoever may still lead with it, unseen by us, starts nothing more.
      String plain = from.owner.toString();
      if (plain.equals(schema.source())) {
        schema.pass(plain, from.owner.passedOn());
      }
    }
    Map<String, Long> incarnations = store.incarnations();
    for (String job : store.jobs()) {
      rows(from, job, incarnations.getOrDefault(job, 0L));
    }
  }

  private void rows(Opened from, String job, long incarnation) {
    Map<String, Long> known = new HashMap<>();
    into.load(job, row -> known.put(row.node(), row.status().sinceMillis()));
    List<StatusRow> rows = new ArrayList<>();
    from.store.load(
        job,
        row -> {
          if (row.status().main() == TaskStatus.Main.RUNNING) {
            refuseRunning(from, row);
          }
          if (row.status().sinceMillis() > known.getOrDefault(row.node(), Long.MIN_VALUE)) {
            Invocation last = new Invocation(epoch, 0, row.invocation().startMillis());
            rows.add(new StatusRow(job, row.node(), row.status(), last));
          }
        });
    for (int at = 0; at < rows.size(); at += ROWS_PER_COMMIT) {
      StoreTransaction.Builder batch = StoreTransaction.builder();
      rows.subList(at, Math.min(rows.size(), at + ROWS_PER_COMMIT)).forEach(batch::put);
      if (incarnation != 0) {
        batch.incarnation(job, incarnation);
      }
      into.commit(epoch, batch.build());
    }
    taken += rows.size();
  }

  /** The end of a task is not known: its scheduler has to see it, and may have its store again. */
  private static void refuseRunning(Opened from, StatusRow row) {
    if (from.store instanceof MySqlStatusStore schema
        && from.owner.passedOn().equals(schema.source())) {
      schema.pass(from.owner.passedOn(), from.owner.toString());
    }
    throw refused(
        from.name,
        "says that "
            + row.job()
            + " is running on "
            + row.node()
            + ": start its scheduler once more as it was, and stop it when its tasks ended");
  }

  private static CommandException refused(String name, String why) {
    return new CommandException(ExitCode.USAGE, "--statuses-from: " + name + " " + why);
  }
}
