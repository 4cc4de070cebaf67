package io.espalier.server.cli;

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

  /**
   * What was chosen.
   *
   * @param mysql present with that kind only
   */
  record Choice(Store kind, Optional<MySqlAddress> mysql) {}

  /**
   * @return SQLite when there were problems
   */
  Choice choice(List<String> problems) {
    if (store.startsWith("mysql:")) {
      try {
        return new Choice(Store.MYSQL, Optional.of(address(problems)));
      } catch (IllegalArgumentException e) {
        problems.add("--status-store mysql://... " + e.getMessage());
        return new Choice(Store.SQLITE, Optional.empty());
      }
    }
    if (Stream.of(passwordFile, passwordVariable, tls, tlsCa).anyMatch(flag -> flag != null)) {
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

  private MySqlAddress address(List<String> problems) {
    MySqlAddress address = MySqlAddress.parse(store);
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
