package io.espalier.cli.flags;

import io.espalier.cli.term.DurationConverter;
import io.espalier.server.Version;
import io.espalier.thrift.rpc.PeerOptions;
import io.espalier.thrift.rpc.RpcSecurity;
import io.espalier.thrift.rpc.RpcTimeouts;
import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/**
 * The flags for the authentication between scheduler and workers, and for the time limits of their
 * calls.
 */
public final class RpcFlags {
  @Option(
      names = "--token-file",
      paramLabel = "FILE",
      description = "File with the secret that scheduler and workers share.")
  private @Nullable Path tokenFile;

  @Option(
      names = "--connect-ms",
      paramLabel = "MS",
      converter = DurationConverter.IntMillis.class,
      defaultValue = "1000",
      description = "Time-out of connecting (default ${DEFAULT-VALUE}).")
  private int connectMillis;

  @Option(
      names = "--send-ms",
      paramLabel = "MS",
      converter = DurationConverter.IntMillis.class,
      defaultValue = "1000",
      description = "Time-out of sending a call (default ${DEFAULT-VALUE}).")
  private int sendMillis;

  @Option(
      names = "--receive-ms",
      paramLabel = "MS",
      converter = DurationConverter.IntMillis.class,
      defaultValue = "2000",
      description = "Time-out of receiving an answer (default ${DEFAULT-VALUE}).")
  private int receiveMillis;

  /**
   * @param listen the host on which to listen; null: none
   * @param tls the flags of this process
   * @return peer options; unprotected ones when there were problems
   */
  public PeerOptions peer(
      @Nullable String listen, TlsFlags tls, boolean insecure, List<String> problems) {
    RpcSecurity security = RpcSecurity.none();
    Optional<RpcSecurity.TlsFiles> files = tls.forWorkers(problems);
    boolean readable = true;
    try {
      security = RpcSecurity.of(files, Optional.ofNullable(tokenFile));
    } catch (NoSuchFileException e) {
      problems.add("there is no file " + e.getFile());
      readable = false;
    } catch (FileSystemException e) {
      problems.add("cannot read " + e.getFile() + ": " + e.getReason());
      readable = false;
    } catch (IOException e) {
      problems.add(String.valueOf(e.getMessage()));
      readable = false;
    }
    if (readable && listen != null) {
      security.objection("--thrift", listen, insecure).ifPresent(problems::add);
    }
    RpcTimeouts timeouts = RpcTimeouts.DEFAULT;
    if (connectMillis < 1 || sendMillis < 1 || receiveMillis < 1) {
      problems.add("--connect-ms, --send-ms and --receive-ms must be 1 or more");
    } else {
      timeouts =
          new RpcTimeouts(
              connectMillis,
              sendMillis,
              receiveMillis,
              2 * (connectMillis + sendMillis + receiveMillis));
    }
    return PeerOptions.of("espalier " + Version.get(), security).withTimeouts(timeouts);
  }
}
