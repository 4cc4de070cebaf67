package io.espalier.worker.call;

import io.espalier.core.config.task.CallTls;
import io.espalier.thrift.rpc.Pem;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Stream;
import javax.net.ssl.SSLContext;

/**
 * What makes calls with the TLS files of jobs. Files are read again when they have changed, so a
 * certificate can be renewed at any time. Thread-safe; it blocks to read files.
 *
 * @param <T> what is made of the files
 */
final class TlsClients<T> {
  private static final int MOST = 100;

  private final Function<SSLContext, T> maker;
  private final Map<CallTls, Made<T>> known =
      new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<CallTls, Made<T>> eldest) {
          return size() > MOST;
        }
      };

  private record Made<T>(List<String> stamps, T client) {}

  TlsClients(Function<SSLContext, T> maker) {
    this.maker = maker;
  }

  /**
   * Returns what makes calls with these files.
   *
   * @throws IllegalArgumentException naming the file that cannot be used, and why
   */
  synchronized T of(CallTls tls) {
    try {
      List<String> stamps = stamps(tls);
      Made<T> made = known.get(tls);
      if (made == null || !made.stamps.equals(stamps)) {
        made = new Made<>(stamps, maker.apply(context(tls)));
        known.put(tls, made);
      }
      return made.client;
    } catch (IOException e) {
      throw new IllegalArgumentException("the files of TLS: " + e.getMessage(), e);
    }
  }

  private static SSLContext context(CallTls tls) throws IOException {
    Optional<Path> certificate = tls.certFile().map(Path::of);
    Optional<Path> key = tls.keyFile().map(Path::of);
    return Pem.context(
        certificate.isPresent() && key.isPresent() ? Pem.keys(certificate.get(), key.get()) : null,
        tls.caFile().isPresent() ? Pem.trust(Path.of(tls.caFile().get())) : null);
  }

  /** Returns what changes whenever one of the files does. */
  private static List<String> stamps(CallTls tls) throws IOException {
    List<Path> files =
        Stream.of(tls.caFile(), tls.certFile(), tls.keyFile())
            .flatMap(Optional::stream)
            .map(Path::of)
            .toList();
    String[] stamps = new String[files.size()];
    for (int i = 0; i < stamps.length; i++) {
      try {
        stamps[i] = Files.readAttributes(files.get(i), "size,lastModifiedTime,fileKey").toString();
      } catch (IOException e) {
        throw new IOException(files.get(i) + " cannot be read: " + e, e);
      }
    }
    return List.of(stamps);
  }
}
