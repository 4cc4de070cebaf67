package io.espalier.server.app.ownership;

import io.espalier.core.config.Partition;
import io.espalier.core.running.Invocation;
import io.espalier.core.status.TaskStatus;
import io.espalier.core.status.store.StatusRow;
import io.espalier.core.status.store.StatusStore;
import io.espalier.core.status.store.StatusStore.TakeOver;
import io.espalier.core.status.store.StatusStore.Taken;
import io.espalier.core.status.store.StoreException;
import io.espalier.core.status.store.StoreTransaction;
import io.espalier.json.JsonReader;
import io.espalier.server.CommandException;
import io.espalier.server.ExitCode;
import io.espalier.server.app.options.DataDirectoryOwner;
import io.espalier.server.app.options.ImportSource;
import io.espalier.server.app.options.ProcessOptions;
import io.espalier.server.app.options.StoreOptions;
import io.espalier.server.store.DataDirectory;
import io.espalier.server.store.DataDirectoryException;
import io.espalier.server.store.archive.ArchiveFile;
import io.espalier.server.store.jdbc.mysql.MySqlAddress;
import io.espalier.server.store.jdbc.mysql.MySqlStatusStore;
import io.espalier.server.store.jdbc.sqlite.BistroStatuses;
import io.espalier.server.store.jdbc.sqlite.SqliteDialect;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Takes over the statuses of schedulers that partitioned the nodes differently, or of a scheduler
 * of Bistro, or of a job that expired ({@code --statuses-from}). When several schedulers, this one
 * included, know a task, the newest status wins; an import can therefore be repeated. Histories
 * stay where they are.
 *
 * <p>No scheduler may continue with an imported store. The store is marked as passed on, and every
 * scheduler refuses it unless it imports statuses itself. All stores are checked before the first
 * one is imported, so that a mistake in one leaves the others unchanged.
 */
public final class StatusImport {
  private static final Logger LOG = LoggerFactory.getLogger(StatusImport.class);
  private static final int ROWS_PER_COMMIT = 5_000;

  private final StatusStore into;
  private final long epoch;
  private long taken;

  private StatusImport(StatusStore into, long epoch) {
    this.into = into;
    this.epoch = epoch;
  }

  private record Opened(String name, DataDirectoryOwner owner, StatusStore store) {}

  /** An action on an opened store. */
  private interface Use {
    void with(Opened store);
  }

  /**
   * Binds a store to its source. Refuses a store that was passed on, unless this scheduler imports
   * the statuses back.
   *
   * @throws CommandException when the store was passed on
   */
  public static void bind(ProcessOptions options, DataDirectory data, StatusStore store) {
    DataDirectoryOwner owner = options.owner();
    boolean mySql = store instanceof MySqlStatusStore;
    String bound = store instanceof MySqlStatusStore schema ? schema.source() : null;
    boolean marked = owner.passedOn().equals(bound);
    boolean passedOn = mySql ? marked : data.isPassedOn();
    if (passedOn && options.store().statusesFrom().isEmpty() && !options.frozen()) {
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
   * Imports the statuses, if any; afterwards the store belongs to this scheduler again.
   *
   * @param into bound, by {@link #bind}
   * @param how the store is taken over
   * @return the epoch to continue with, and what was known about the leadership before
   * @throws CommandException when a store is missing or cannot be imported: it is in use, belongs
   *     to another configuration, or its last scheduler did not see the end of its tasks
   */
  public static Taken take(
      ProcessOptions options, DataDirectory data, StatusStore into, TakeOver how) {
    if (options.store().statusesFrom().isEmpty()) {
      return into.openEpoch(how);
    }
    List<DataDirectoryOwner> owners = new ArrayList<>();
    long[] highest = {0};
    Map<Path, Map<String, Map<String, TaskStatus>>> ofBistro = new HashMap<>();
    for (ImportSource earlier : options.store().statusesFrom()) {
      if (earlier.bistro() != null) {
        ofBistro.put(earlier.bistro(), bistro(earlier.bistro()));
        continue;
      }
      if (earlier.archive() != null) {
        checkArchive(earlier, earlier.archive(), into);
        continue;
      }
      use(
          earlier,
          options.source().configUri(),
          false,
          store -> {
            store.store.running().stream().findFirst().ifPresent(row -> refuseRunning(store, row));
            owners.add(store.owner);
            highest[0] = Math.max(highest[0], store.store.epoch());
          });
    }
    requireAll(owners);
    // Tokens of tasks begin with the epoch and must only grow, whatever store they came from.
    Taken taken =
        into.openEpoch(new TakeOver(Math.max(how.atLeast(), highest[0] + 1), how.leaseMillis()));
    for (ImportSource earlier : options.store().statusesFrom()) {
      StatusImport taking = new StatusImport(into, taken.epoch());
      if (earlier.bistro() != null) {
        ofBistro.getOrDefault(earlier.bistro(), Map.of()).forEach(taking::bistro);
      } else if (earlier.archive() != null) {
        taking.archive(earlier, earlier.archive());
      } else {
        use(earlier, options.source().configUri(), true, taking::all);
      }
      LOG.info("took {} statuses from {}", taking.taken, earlier);
    }
    data.takeBack();
    if (into instanceof MySqlStatusStore schema) {
      DataDirectoryOwner owner = options.owner();
      if (owner.passedOn().equals(schema.source())) {
        schema.pass(owner.passedOn(), owner.toString());
        Taken again = into.openEpoch(how);
        return new Taken(
            again.epoch(), again.storeId(), taken.earlierLeaseMillis(), taken.earlier());
      }
    }
    return taken;
  }

  /**
   * Refuses to start with an empty store next to data directories of the same configuration with
   * another partitioning: all tasks would run again.
   */
  public static void requireNothingBeside(ProcessOptions options, DataDirectory data) {
    Path parent = data.root().getParent();
    if (parent == null
        || options.store().kind() != StoreOptions.Kind.SQLITE
        || options.store().fresh()
        || options.frozen()
        || !options.store().statusesFrom().isEmpty()
        || Files.exists(data.statusFile())) {
      return;
    }
    Map<String, Path> others = new TreeMap<>();
    for (Path other : DataDirectory.beside(data.root())) {
      String source = DataDirectory.sourceOf(other);
      DataDirectoryOwner owner = source == null ? null : DataDirectoryOwner.parse(source);
      if (owner != null
          && owner.configUri().equals(options.source().configUri())
          && owner.shard().count() != options.source().shard().count()) {
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

  /** Refuses an incomplete set of stores: tasks done in a missing one would run again. */
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
    // The lock ensures that no process writes to it and that none of its tasks starts.
    try (DataDirectory other = DataDirectory.open(directory, owner.toString())) {
      if (!Files.exists(other.statusFile())) {
        throw refused(name, "has no statuses in a file: those in MySQL are taken from mysql://...");
      }
      try (StatusStore store = SqliteDialect.open(other.statusFile(), JsonReader::parse)) {
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
      // Fenced first: a scheduler that still leads with this store, unseen by us, starts nothing
      // more.
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
    put(job, rows, incarnation);
  }

  private static Map<String, Map<String, TaskStatus>> bistro(Path file) {
    try {
      return BistroStatuses.read(file);
    } catch (BistroStatuses.Unusable e) {
      throw refused(ImportSource.BISTRO + file, String.valueOf(e.getMessage()));
    }
  }

  /**
   * Takes what a scheduler of Bistro knew of a job. The file cannot be marked as passed on, so
   * tasks that this store knows are left alone: giving the flag twice changes nothing, and an
   * import that was interrupted goes on.
   */
  private void bistro(String job, Map<String, TaskStatus> statuses) {
    Map<String, TaskStatus> unknown = new TreeMap<>(statuses);
    into.load(job, row -> unknown.remove(row.node()));
    List<StatusRow> rows = new ArrayList<>();
    unknown.forEach(
        (node, status) ->
            rows.add(
                new StatusRow(job, node, status, new Invocation(epoch, 0, status.sinceMillis()))));
    put(job, rows, 0);
  }

  /** Reads all of a file before anything is taken, and refuses that of another job of the name. */
  private static void checkArchive(ImportSource from, Path file, StatusStore into) {
    try {
      ArchiveFile.Content content = ArchiveFile.read(file, row -> {});
      long known = into.incarnations().getOrDefault(content.job(), 0L);
      if (known != 0 && content.createTime() != 0 && known != content.createTime()) {
        throw refused(
            from.toString(),
            "is of a job "
                + content.job()
                + " that was deleted: the job of that name in "
                + into.description()
                + " has another create_time");
      }
    } catch (ArchiveFile.Unusable e) {
      throw refused(from.toString(), String.valueOf(e.getMessage()));
    }
  }

  /**
   * Takes a job back that expired. Tasks that this store knows are left alone, so an import can be
   * repeated.
   */
  private void archive(ImportSource from, Path file) {
    Set<String> known = new HashSet<>();
    List<StatusRow> rows = new ArrayList<>();
    try {
      ArchiveFile.Content content =
          ArchiveFile.read(
              file,
              row -> {
                if (known.isEmpty()) {
                  into.loadKept(row.job(), stored -> known.add(stored.node()));
                  // The name of no node, so that the store is asked once.
                  known.add("");
                }
                if (!known.contains(row.node())) {
                  Invocation last = new Invocation(epoch, 0, row.invocation().startMillis());
                  rows.add(new StatusRow(row.job(), row.node(), row.status(), last));
                }
                if (rows.size() == ROWS_PER_COMMIT) {
                  put(row.job(), rows, 0);
                  rows.clear();
                }
              });
      put(content.job(), rows, content.createTime());
    } catch (ArchiveFile.Unusable e) {
      throw refused(from.toString(), String.valueOf(e.getMessage()));
    }
  }

  private void put(String job, List<StatusRow> rows, long incarnation) {
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

  /**
   * Refuses a store with a running task, because its result is unknown. Its scheduler must see the
   * end of the task and may get its store back for that.
   */
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
