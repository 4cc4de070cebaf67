package io.espalier.server.security;

import io.espalier.thrift.rpc.Pem;
import io.espalier.webui.tls.TlsSource;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509KeyManager;
import javax.net.ssl.X509TrustManager;
import org.jspecify.annotations.Nullable;

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
        keys(certificate, key),
        authority.isPresent() ? Optional.of(trust(authority.get())) : Optional.empty());
  }

  /**
   * Returns a context for outgoing calls.
   *
   * @throws IOException as {@link #read}
   */
  public SSLContext context() throws IOException {
    return context(keys(certificate, key), authority.isEmpty() ? null : trust(authority.get()));
  }

  /** Creates a context; null means the defaults of the JDK. */
  static SSLContext context(@Nullable X509KeyManager keys, @Nullable X509TrustManager trust)
      throws IOException {
    try {
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(
          keys == null ? null : new X509KeyManager[] {keys},
          trust == null ? null : new X509TrustManager[] {trust},
          null);
      return context;
    } catch (GeneralSecurityException e) {
      throw new IOException("this Java cannot do TLS: " + e.getMessage(), e);
    }
  }

  static X509KeyManager keys(Path certificate, Path key) throws IOException {
    List<X509Certificate> chain = Pem.certificates(certificate);
    try {
      char[] unused = new char[0];
      KeyStore own = empty();
      own.setKeyEntry("own", Pem.privateKey(key), unused, chain.toArray(new Certificate[0]));
      KeyManagerFactory keys =
          KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
      keys.init(own, unused);
      return only(X509KeyManager.class, keys.getKeyManagers());
    } catch (GeneralSecurityException e) {
      throw new IOException(
          "cannot use " + certificate + " with " + key + ": " + e.getMessage(), e);
    }
  }

  static X509TrustManager trust(Path authority) throws IOException {
    try {
      KeyStore trusted = empty();
      int number = 0;
      for (X509Certificate each : Pem.certificates(authority)) {
        trusted.setCertificateEntry("ca" + number++, each);
      }
      TrustManagerFactory trust =
          TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
      trust.init(trusted);
      return only(X509TrustManager.class, trust.getTrustManagers());
    } catch (GeneralSecurityException e) {
      throw new IOException("cannot use " + authority + ": " + e.getMessage(), e);
    }
  }

  private static KeyStore empty() throws IOException, GeneralSecurityException {
    KeyStore store = KeyStore.getInstance("PKCS12");
    store.load(null, new char[0]);
    return store;
  }

  private static <T> T only(Class<T> kind, Object[] managers) {
    return Arrays.stream(managers)
        .filter(kind::isInstance)
        .map(kind::cast)
        .findFirst()
        .orElseThrow(() -> new IllegalStateException("no " + kind.getSimpleName()));
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
