package io.espalier.cli.client;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** The flags for the scheduler that a command talks to. */
public final class TargetFlags {
  static final String SERVER = "--server";
  static final String ZOOKEEPER = "--zookeeper";

  @Option(
      names = SERVER,
      paramLabel = "URL",
      description =
          "The scheduler to ask (default: that of the context, else "
              + Target.DEFAULT_SERVER
              + ").")
  private @Nullable String server;

  @Option(
      names = ZOOKEEPER,
      paramLabel = "HOSTS/PATH",
      description = "Ask the leader of this group of schedulers instead.")
  private @Nullable String zookeeper;

  @Option(
      names = "--zookeeper-auth",
      paramLabel = "FILE",
      description = "File with account and certificates for ZooKeeper.")
  private @Nullable Path zookeeperAuth;

  @Mixin private AccessFlags access = new AccessFlags();

  /**
   * Returns what the flags and the environment name; a flag takes precedence over the environment.
   *
   * @throws ParameterException when the flags, or the environment, name two schedulers
   */
  public Target named(CommandLine line) {
    boolean serverFlag = line.getParseResult().hasMatchedOption(SERVER);
    boolean zookeeperFlag = line.getParseResult().hasMatchedOption(ZOOKEEPER);
    if (server != null && zookeeper != null && serverFlag == zookeeperFlag) {
      throw new ParameterException(line, SERVER + " and " + ZOOKEEPER + " exclude each other");
    }
    return access.target(
        zookeeperFlag ? null : server, serverFlag ? null : zookeeper, zookeeperAuth);
  }
}
