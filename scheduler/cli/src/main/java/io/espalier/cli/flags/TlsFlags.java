package io.espalier.cli.flags;

import io.espalier.server.security.TlsFiles;
import io.espalier.thrift.rpc.RpcSecurity;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The certificates of this process, used for all its listeners and for its outgoing calls. */
public final class TlsFlags {
  @Option(
      names = "--tls-cert",
      paramLabel = "FILE",
      description = "Certificate chain (PEM) of this process, for HTTP and for workers' calls.")
  private @Nullable Path tlsCert;

  @Option(names = "--tls-key", paramLabel = "FILE", description = "Its key (PEM, PKCS#8).")
  private @Nullable Path tlsKey;

  @Option(
      names = "--tls-ca",
      paramLabel = "FILE",
      description =
          "The cluster's own authority (PEM): workers must have a certificate of it, and clients"
              + " may show one.")
  private @Nullable Path tlsCa;

  /** Returns the files for calls between scheduler and workers: all three or none. */
  Optional<RpcSecurity.TlsFiles> forWorkers(List<String> problems) {
    if (tlsCert != null && tlsKey != null && tlsCa != null) {
      return Optional.of(new RpcSecurity.TlsFiles(tlsCert, tlsKey, tlsCa));
    }
    if (tlsCert != null || tlsKey != null || tlsCa != null) {
      problems.add("--tls-cert, --tls-key and --tls-ca are given all or none");
    }
    return Optional.empty();
  }

  /** Returns the same files for HTTP; their problems are reported once, for the workers. */
  public Optional<TlsFiles> forBoth() {
    return forWorkers(new ArrayList<>())
        .map(
            files ->
                new TlsFiles(files.certificate(), files.key(), Optional.of(files.authority())));
  }

  /** Returns the files for HTTP; the authority is optional. */
  Optional<TlsFiles> forHttp(List<String> problems) {
    if (tlsCert != null && tlsKey != null) {
      return Optional.of(new TlsFiles(tlsCert, tlsKey, Optional.ofNullable(tlsCa)));
    }
    if (tlsCert != null || tlsKey != null || tlsCa != null) {
      problems.add("--tls-cert and --tls-key are given both or none, --tls-ca only with them");
    }
    return Optional.empty();
  }
}
