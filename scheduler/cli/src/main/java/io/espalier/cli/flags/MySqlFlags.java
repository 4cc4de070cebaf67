package io.espalier.cli.flags;

import io.espalier.server.store.jdbc.mysql.MySqlAddress;
import io.espalier.server.store.jdbc.mysql.MySqlAddress.Tls;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The account of a status store in MySQL, and the protection of the connection. */
public final class MySqlFlags {
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

  /** Returns true when any of the flags was given. */
  boolean isGiven() {
    return Stream.of(passwordFile, passwordVariable, tls, tlsCa).anyMatch(flag -> flag != null);
  }

  /**
   * Returns the address of a schema with the account's password and protection.
   *
   * @param flag that named the schema
   * @return empty when there were problems
   */
  public Optional<MySqlAddress> address(String flag, String text, List<String> problems) {
    try {
      return Optional.of(address(text, problems));
    } catch (IllegalArgumentException e) {
      // Omits the text, which may contain a password.
      problems.add(flag + " mysql://... " + e.getMessage());
      return Optional.empty();
    }
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
