package io.espalier.cli.flags;

import io.espalier.cli.term.DurationConverter;
import io.espalier.server.app.options.EventRetentionOptions;
import io.espalier.server.app.options.StoreOptions;
import io.espalier.server.app.options.StoreOptions.Owning;
import io.espalier.server.store.jdbc.mysql.MySqlAddress;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The flags that choose the status store and its account. */
final class StoreFlags {
  private static final int MOST_DAYS = 36_500;
  private static final long MOST_PROOF_MILLIS = Duration.ofDays(1).toMillis();

  @Option(
      names = "--status-store",
      paramLabel = "STORE",
      defaultValue = "sqlite",
      description = "sqlite (default), memory or mysql://USER@HOST:PORT/SCHEMA.")
  private String store = "sqlite";

  @Mixin private MySqlFlags account = new MySqlFlags();

  @Option(
      names = "--take-over",
      description =
          "Take a store in MySQL from another scheduler that has not ended in order. Waits first"
              + " until that one has no proof any more that the store is its own, and until its"
              + " tasks have ended.")
  private boolean takeOver;

  @Option(
      names = "--store-proof-ms",
      paramLabel = "MS",
      converter = DurationConverter.Millis.class,
      description =
          "For how long a store in MySQL that is away counts as this scheduler's: after that no"
              + " worker is answered, and local tasks are ended (default 600000; with --ha store"
              + " 6000, after which another scheduler may lead).")
  private @Nullable Long proofMillis;

  @Option(
      names = "--event-retention-days",
      paramLabel = "DAYS",
      converter = DurationConverter.Days.class,
      defaultValue = "30",
      description = "How long events are kept (default ${DEFAULT-VALUE}; 0: for ever).")
  private int eventDays;

  @Option(
      names = "--event-log-max",
      paramLabel = "N",
      defaultValue = "50000000",
      description =
          "How many events are kept at most, to protect the disk; the newest 100000 always are"
              + " (default ${DEFAULT-VALUE}; 0: no bound).")
  private long eventMax;

  @Option(
      names = "--keep-finished-days",
      paramLabel = "DAYS",
      converter = DurationConverter.Days.class,
      defaultValue = "90",
      description =
          "How long the statuses of a job are kept after it was removed from the configuration;"
              + " then they go to a file in DATA_DIR/archive (default ${DEFAULT-VALUE}; 0: they are"
              + " kept for ever).")
  private int finishedDays;

  Owning owning(List<String> problems) {
    if (!isMySql(store) && (takeOver || proofMillis != null)) {
      problems.add("--take-over and --store-proof-ms are for --status-store mysql://...");
    }
    long least = Owning.LEAST_PROOF.toMillis();
    if (proofMillis != null && (proofMillis < least || proofMillis > MOST_PROOF_MILLIS)) {
      problems.add("--store-proof-ms must be between " + least + " and " + MOST_PROOF_MILLIS);
      return Owning.DEFAULT;
    }
    return new Owning(takeOver, Optional.ofNullable(proofMillis).map(Duration::ofMillis));
  }

  EventRetentionOptions events(List<String> problems) {
    if (eventDays < 0 || eventDays > MOST_DAYS) {
      problems.add("--event-retention-days must be between 0 and " + MOST_DAYS);
    }
    if (eventMax < 0) {
      problems.add("--event-log-max must be 0 or more");
    }
    return new EventRetentionOptions(eventDays, eventMax);
  }

  Duration keepFinished(List<String> problems) {
    if (finishedDays < 0 || finishedDays > MOST_DAYS) {
      problems.add("--keep-finished-days must be between 0 and " + MOST_DAYS);
    }
    return Duration.ofDays(finishedDays);
  }

  /**
   * The chosen store.
   *
   * @param mysql present with that kind only
   */
  record Choice(StoreOptions.Kind kind, Optional<MySqlAddress> mysql) {}

  static boolean isMySql(String text) {
    return text.startsWith("mysql:");
  }

  /** As {@link MySqlFlags#address}. */
  Optional<MySqlAddress> mysql(String flag, String text, List<String> problems) {
    return account.address(flag, text, problems);
  }

  /**
   * @param elsewhere whether the account is needed for a schema other than that of the store
   * @return SQLite when there were problems
   */
  Choice choice(boolean elsewhere, List<String> problems) {
    if (isMySql(store)) {
      Optional<MySqlAddress> address = mysql("--status-store", store, problems);
      return new Choice(
          address.isPresent() ? StoreOptions.Kind.MYSQL : StoreOptions.Kind.SQLITE, address);
    }
    if (!elsewhere && account.isGiven()) {
      problems.add("--store-... flags are for --status-store mysql://...");
    }
    for (StoreOptions.Kind kind : List.of(StoreOptions.Kind.SQLITE, StoreOptions.Kind.MEMORY)) {
      if (kind.label().equals(store)) {
        return new Choice(kind, Optional.empty());
      }
    }
    problems.add(
        "--status-store " + store + " is none of sqlite, memory, mysql://USER@HOST:PORT/SCHEMA");
    return new Choice(StoreOptions.Kind.SQLITE, Optional.empty());
  }
}
