package io.espalier.server.security;

import io.espalier.thrift.rpc.Pem;
import io.espalier.webui.tls.TlsSource;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import javax.net.ssl.SSLContext;

/**
 * The PEM files of a certificate, its key, and the authority that the other side must have.
 *
 * @param certificate with its chain
 * @param key unencrypted, PKCS#8
 * @param authority empty: the other side has no certificate, or one signed by an authority of the
 *     JDK
 */
public record TlsFiles(Path certificate, Path key, Optional<Path> authority) {

  /**
   * Reads the files.
   *
   * @throws IOException naming the file that cannot be used, and why
   */
  public TlsSource.Material read() throws IOException {
    return new TlsSource.Material(
        Pem.keys(certificate, key),
        authority.isPresent() ? Optional.of(Pem.trust(authority.get())) : Optional.empty());
  }

  /**
   * Returns a context for outgoing calls.
   *
   * @throws IOException as {@link #read}
   */
  public SSLContext context() throws IOException {
    return Pem.context(
        Pem.keys(certificate, key), authority.isEmpty() ? null : Pem.trust(authority.get()));
  }

  /** Returns metadata that changes whenever one of the files does. */
  List<Map<String, Object>> stamps() {
    List<Path> files = new ArrayList<>(List.of(certificate, key));
    authority.ifPresent(files::add);
    List<Map<String, Object>> stamps = new ArrayList<>();
    for (Path file : files) {
      try {
        stamps.add(Map.copyOf(Files.readAttributes(file, "size,lastModifiedTime,fileKey")));
      } catch (IOException | NullPointerException e) {
        stamps.add(Map.of("missing", String.valueOf(e.getMessage())));
      }
    }
    return stamps;
  }
}
