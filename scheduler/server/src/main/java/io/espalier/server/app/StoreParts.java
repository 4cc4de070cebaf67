package io.espalier.server.app;

import io.espalier.core.status.store.StaleEpochException;
import io.espalier.core.status.store.StatusStore;
import io.espalier.core.status.store.StoreException;
import io.espalier.json.JsonReader;
import io.espalier.server.app.options.ProcessOptions;
import io.espalier.server.app.ownership.DirectoryOwner;
import io.espalier.server.app.ownership.Leadership;
import io.espalier.server.app.ownership.StartWaits;
import io.espalier.server.app.ownership.StatusImport;
import io.espalier.server.app.ownership.StoreHistory;
import io.espalier.server.app.ownership.StoreOwnership;
import io.espalier.server.app.ownership.StoreRight;
import io.espalier.server.store.DataDirectory;
import io.espalier.server.store.EpochFile;
import io.espalier.server.store.MemoryStatusStore;
import io.espalier.server.store.jdbc.mysql.MySqlStatusStore;
import io.espalier.server.store.jdbc.sqlite.SqliteDialect;
import io.espalier.worker.process.os.RunPlace;
import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * The data of a scheduler process, taken over: from here on they are this scheduler's.
 *
 * @param leadership the right to answer workers and to start tasks
 * @param taken what was known about the leadership before
 * @param onDeath called with the reason why the scheduler cannot go on
 */
record StoreParts(
    DataDirectory data,
    StatusStore store,
    StoreRight leadership,
    StoreHistory history,
    StatusStore.Taken taken,
    Consumer<Throwable> onDeath) {

  /**
   * Opens the data and takes them over.
   *
   * @throws IOException with a clear message when something is not available
   */
  static StoreParts open(
      OpenParts opened,
      ProcessOptions options,
      Leadership elected,
      StartWaits waits,
      Consumer<Throwable> onDeath)
      throws IOException, InterruptedException {
    DataDirectory data =
        opened.add(
            "data directory",
            DataDirectory.open(options.store().dataDir(), options.owner().toString()));
    if (options.store().fresh()) {
      data.forget();
    }
    StatusImport.requireNothingBeside(options, data);
    // The store's tables must not be touched until it is certain that no other process owns them.
    Optional<StoreOwnership> ownership =
        owned(opened, options, data, elected, elected.ownership(), waits);
    StatusStore store = opened.add("status store", store(options, data));
    ownership = owned(opened, options, data, elected, ownership, waits);
    StoreRight leadership = new StoreRight(elected, ownership.orElse(null));
    Consumer<Throwable> died =
        cause -> {
          if (cause instanceof StaleEpochException) {
            // This comes first: closing takes a while, and workers must receive nothing from us
            // meanwhile.
            leadership.end();
          }
          onDeath.accept(cause);
        };
    if (store instanceof MySqlStatusStore schema) {
      StoreOwnership mine = ownership.orElseThrow();
      schema.ownedBy(mine.process());
      if (elected.ownership().isEmpty()) {
        mine.prove(died, () -> unproven(options, store, died));
      }
    }
    StatusImport.bind(options, data, store);
    EpochFile mark = new EpochFile(data.epochFile());
    StoreHistory history = StoreHistory.look(options, store, mark, data, elected.mark());
    StatusStore.Taken taken =
        history.taken(
            StatusImport.take(
                options,
                data,
                store,
                new StatusStore.TakeOver(mark.highest() + 1, options.leaseMillis())));
    if (options.runner().remote().isEmpty()) {
      history.outwaitWorkers(taken, waits);
    }
    if (options.store().fresh() && store instanceof MySqlStatusStore schema) {
      // Not before the wait, which depends on the rows, and which a restart must find again.
      schema.forgetEverything(taken.epoch());
    }
    return new StoreParts(data, store, leadership, history, taken, died);
  }

  long epoch() {
    return taken.epoch();
  }

  private static StatusStore store(ProcessOptions options, DataDirectory data) {
    return switch (options.store().kind()) {
      case MEMORY -> new MemoryStatusStore(new EpochFile(data.epochFile()));
      case SQLITE -> SqliteDialect.open(data.statusFile(), JsonReader::parse);
      case MYSQL -> MySqlStatusStore.open(options.store().mysql().orElseThrow(), JsonReader::parse);
    };
  }

  /**
   * Acquires the ownership of the store unless we have it already. A store without tables cannot be
   * acquired yet.
   */
  private static Optional<StoreOwnership> owned(
      OpenParts opened,
      ProcessOptions options,
      DataDirectory data,
      Leadership elected,
      Optional<StoreOwnership> already,
      StartWaits waits)
      throws InterruptedException {
    if (already.isPresent() || options.store().mysql().isEmpty()) {
      return already;
    }
    Optional<StoreOwnership> taken =
        StoreOwnership.take(
            options.store().mysql().get(), applicant(options, data, elected.group()), waits);
    taken.ifPresent(mine -> opened.add("store ownership", mine));
    return taken;
  }

  /** Describes this scheduler as an applicant for a store that it shares with others. */
  private static StoreOwnership.Applicant applicant(
      ProcessOptions options, DataDirectory data, Optional<String> group) {
    String process =
        "the scheduler on host "
            + hostName()
            + " with data directory "
            + data.root()
            + " (process "
            + ProcessHandle.current().pid()
            + group.map(name -> ", of " + name).orElse("")
            + ")";
    return new StoreOwnership.Applicant(
        group.orElseGet(() -> new DirectoryOwner(data.id(), RunPlace.here(data.root())).toString()),
        process,
        options.store().owning().proof(),
        options.store().owning().takeOver());
  }

  private static String hostName() {
    try {
      return InetAddress.getLocalHost().getHostName();
    } catch (UnknownHostException e) {
      return "unknown";
    }
  }

  /**
   * Handles a lost proof of ownership. Remote tasks end when their leases expire; local tasks have
   * no leases and must end before another scheduler may start them.
   */
  private static void unproven(
      ProcessOptions options, StatusStore store, Consumer<Throwable> died) {
    if (options.runner().kind().endsWithScheduler()) {
      died.accept(
          new StoreException(
              store.description()
                  + " has not said for "
                  + options.store().owning().proof().toSeconds()
                  + " s that it belongs to this scheduler: the local tasks are ended, because"
                  + " another may start them",
              false,
              null));
    }
  }
}
