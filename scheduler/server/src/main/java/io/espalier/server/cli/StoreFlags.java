package io.espalier.server.cli;

import io.espalier.server.process.EventKeeping;
import io.espalier.server.process.ProcessOptions.Store;
import io.espalier.server.store.mysql.MySqlAddress;
import io.espalier.server.store.mysql.MySqlAddress.Tls;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Where statuses are kept, and how one gets there. */
final class StoreFlags {
  private static final int MOST_DAYS = 36_500;

  @Option(
      names = "--status-store",
      paramLabel = "STORE",
      defaultValue = "sqlite",
      description = "sqlite (default), memory or mysql://USER@HOST:PORT/SCHEMA.")
  private String store = "sqlite";

  @Option(
      names = "--store-password-file",
      paramLabel = "FILE",
      description = "File with the password of the MySQL account.")
  private @Nullable Path passwordFile;

  @Option(
      names = "--store-password-env",
      paramLabel = "NAME",
      description = "Environment variable with the password of the MySQL account.")
  private @Nullable String passwordVariable;

  @Option(
      names = "--store-tls",
      paramLabel = "MODE",
      description =
          "disabled, preferred, required, verify-ca or verify-identity. Default: verify-identity"
              + " with --store-tls-ca, preferred on this host, otherwise required.")
  private @Nullable String tls;

  @Option(
      names = "--store-tls-ca",
      paramLabel = "FILE",
      description = "Authority (PEM) that has signed the MySQL server's certificate.")
  private @Nullable Path tlsCa;

  @Option(
      names = "--event-retention-days",
      paramLabel = "DAYS",
      defaultValue = "30",
      description = "How long events are kept (default ${DEFAULT-VALUE}; 0: for ever).")
  private int eventDays;

  @Option(
      names = "--event-log-max",
      paramLabel = "N",
      defaultValue = "2000000",
      description =
          "How many events are kept at most; the newest 100000 always are (default"
              + " ${DEFAULT-VALUE}; 0: no bound).")
  private long eventMax;

  EventKeeping events(List<String> problems) {
    if (eventDays < 0 || eventDays > MOST_DAYS) {
      problems.add("--event-retention-days must be between 0 and " + MOST_DAYS);
    }
    if (eventMax < 0) {
      problems.add("--event-log-max must be 0 or more");
    }
    return new EventKeeping(eventDays, eventMax);
  }

  /**
   * What was chosen.
   *
   * @param mysql present with that kind only
   */
  record Choice(Store kind, Optional<MySqlAddress> mysql) {}

  static boolean isMySql(String text) {
    return text.startsWith("mysql:");
  }

  /**
   * A schema with the account's password and protection.
   *
   * @param flag that named it
   * @return empty when there were problems
   */
  Optional<MySqlAddress> mysql(String flag, String text, List<String> problems) {
    try {
      return Optional.of(address(text, problems));
    } catch (IllegalArgumentException e) {
      // Not the text: it may hold a password.
      problems.add(flag + " mysql://... " + e.getMessage());
      return Optional.empty();
    }
  }

  /**
   * @param elsewhere whether the account is needed for another schema than that of the store
   * @return SQLite when there were problems
   */
  Choice choice(boolean elsewhere, List<String> problems) {
    if (isMySql(store)) {
      Optional<MySqlAddress> address = mysql("--status-store", store, problems);
      return new Choice(address.isPresent() ? Store.MYSQL : Store.SQLITE, address);
    }
    if (!elsewhere
        && Stream.of(passwordFile, passwordVariable, tls, tlsCa).anyMatch(flag -> flag != null)) {
      problems.add("--store-... flags are for --status-store mysql://...");
    }
    for (Store kind : List.of(Store.SQLITE, Store.MEMORY)) {
      if (kind.label().equals(store)) {
        return new Choice(kind, Optional.empty());
      }
    }
    problems.add(
        "--status-store " + store + " is none of sqlite, memory, mysql://USER@HOST:PORT/SCHEMA");
    return new Choice(Store.SQLITE, Optional.empty());
  }

  private MySqlAddress address(String text, List<String> problems) {
    MySqlAddress address = MySqlAddress.parse(text);
    if (passwordFile != null && passwordVariable != null) {
      problems.add("--store-password-file and --store-password-env: keep one of them");
    }
    if (passwordFile != null) {
      if (!Files.isReadable(passwordFile)) {
        problems.add("--store-password-file " + passwordFile + " cannot be read");
      }
      address = address.withPasswordFile(passwordFile);
    } else if (passwordVariable != null) {
      if (System.getenv(passwordVariable) == null) {
        problems.add("--store-password-env " + passwordVariable + " is not set");
      }
      address = address.withPasswordVariable(passwordVariable);
    }
    if (tlsCa != null && !Files.isReadable(tlsCa)) {
      problems.add("--store-tls-ca " + tlsCa + " cannot be read");
    }
    Tls mode = tlsCa == null ? address.tls() : Tls.VERIFY_IDENTITY;
    return address.withTls(mode(mode, problems), Optional.ofNullable(tlsCa));
  }

  private Tls mode(Tls byDefault, List<String> problems) {
    if (tls == null) {
      return byDefault;
    }
    for (Tls mode : Tls.values()) {
      if (mode.label().equals(tls)) {
        if (tlsCa != null && mode.compareTo(Tls.VERIFY_CA) < 0) {
          problems.add("--store-tls " + tls + " does not look at --store-tls-ca");
        }
        return mode;
      }
    }
    problems.add(
        "--store-tls "
            + tls
            + " is none of "
            + Arrays.stream(Tls.values()).map(Tls::label).collect(Collectors.joining(", ")));
    return byDefault;
  }
}
