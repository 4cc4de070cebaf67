package io.espalier.cli.client;

import io.espalier.server.security.ClientAccess;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The flags for the credentials of a client command and the authorities it trusts. */
public final class AccessFlags {
  @Option(
      names = "--token-file",
      paramLabel = "FILE",
      description = "File with your token, one of those in the scheduler's --tokens-file.")
  private @Nullable Path tokenFile;

  @Option(
      names = "--tls-ca",
      paramLabel = "FILE",
      description = "Authority (PEM) that has signed the scheduler's certificate.")
  private @Nullable Path tlsCa;

  @Option(
      names = "--tls-cert",
      paramLabel = "FILE",
      description = "Your certificate (PEM), if you have one in place of a token.")
  private @Nullable Path tlsCert;

  @Option(names = "--tls-key", paramLabel = "FILE", description = "Its key (PEM, PKCS#8).")
  private @Nullable Path tlsKey;

  /**
   * Reads the files.
   *
   * @throws io.espalier.server.CommandException naming the file that cannot be used
   */
  public ClientAccess access() {
    return target(null, null, null).access();
  }

  /** Returns a scheduler with these files. */
  Target target(@Nullable String server, @Nullable String zookeeper, @Nullable Path zookeeperAuth) {
    return new Target(server, zookeeper, zookeeperAuth, tokenFile, tlsCa, tlsCert, tlsKey);
  }
}
