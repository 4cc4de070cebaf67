package io.espalier.cli.flags;

import io.espalier.cli.term.DurationConverter;
import io.espalier.server.CommandException;
import io.espalier.server.ExitCode;
import io.espalier.server.zk.ZooKeeperTarget;
import java.nio.file.Path;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The flags that locate the election of a group of schedulers. */
public final class ZooKeeperFlags {
  private static final int LEAST_SESSION_MILLIS = 2_000;
  private static final int LONGEST_SESSION_MILLIS = 600_000;

  @Option(
      names = "--zookeeper",
      paramLabel = "HOSTS/PATH",
      description =
          "The ensemble and the path of a group of schedulers, such as"
              + " zk1:2181,zk2:2181,zk3:2181/espalier.")
  private @Nullable String zookeeper;

  @Option(
      names = "--zookeeper-auth",
      paramLabel = "FILE",
      description =
          "File with the account, such as \"digest espalier:secret\", to which all that is created"
              + " then belongs, with its readers and with the certificates for TLS.")
  private @Nullable Path auth;

  @Option(
      names = "--zookeeper-session-ms",
      paramLabel = "MS",
      converter = DurationConverter.IntMillis.class,
      defaultValue = "6000",
      description =
          "A scheduler that is silent for so long leads no more (default ${DEFAULT-VALUE}).")
  private int sessionMillis = ZooKeeperTarget.DEFAULT_SESSION_MILLIS;

  /**
   * @return empty without {@code --zookeeper}
   * @throws CommandException when the flag is invalid
   */
  public Optional<ZooKeeperTarget> target() {
    if (zookeeper == null) {
      return Optional.empty();
    }
    if (sessionMillis < LEAST_SESSION_MILLIS || sessionMillis > LONGEST_SESSION_MILLIS) {
      throw new CommandException(
          ExitCode.USAGE,
          "--zookeeper-session-ms must be from "
              + LEAST_SESSION_MILLIS
              + " to "
              + LONGEST_SESSION_MILLIS);
    }
    try {
      return Optional.of(
          ZooKeeperTarget.parse(zookeeper)
              .withAuthFile(Optional.ofNullable(auth))
              .withSessionMillis(sessionMillis));
    } catch (IllegalArgumentException e) {
      throw new CommandException(
          ExitCode.USAGE, "--zookeeper " + zookeeper + ": " + e.getMessage(), e);
    }
  }
}
