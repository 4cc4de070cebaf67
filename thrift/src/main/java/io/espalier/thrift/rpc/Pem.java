package io.espalier.thrift.rpc;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.Certificate;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.InvalidKeySpecException;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509KeyManager;
import javax.net.ssl.X509TrustManager;
import org.jspecify.annotations.Nullable;

/**
 * Reads PEM files, and makes TLS of them. Every failure names the file and never shows its content.
 */
public final class Pem {
  private static final String BEGIN = "-----BEGIN PRIVATE KEY-----";
  private static final String END = "-----END PRIVATE KEY-----";

  private Pem() {}

  /**
   * Returns all certificates of a file, at least one.
   *
   * @throws IOException naming the file, and why it cannot be used
   */
  public static List<X509Certificate> certificates(Path file) throws IOException {
    List<X509Certificate> certificates = new ArrayList<>();
    try (InputStream in = Files.newInputStream(file)) {
      for (var certificate : CertificateFactory.getInstance("X.509").generateCertificates(in)) {
        certificates.add((X509Certificate) certificate);
      }
    } catch (CertificateException e) {
      throw new IOException(file + " has no certificates in PEM form: " + e.getMessage(), e);
    }
    if (certificates.isEmpty()) {
      throw new IOException(file + " has no certificate in it");
    }
    return certificates;
  }

  /**
   * Returns the key of a file, which must be unencrypted.
   *
   * @throws IOException naming the file, and why it cannot be used
   */
  public static PrivateKey privateKey(Path file) throws IOException {
    String text = Files.readString(file);
    int begin = text.indexOf(BEGIN);
    int end = text.indexOf(END);
    if (begin < 0 || end < begin) {
      throw new IOException(
          file
              + " has no unencrypted PKCS#8 key (BEGIN PRIVATE KEY);"
              + " openssl pkcs8 -topk8 -nodes makes one of other forms");
    }
    byte[] der;
    try {
      der = Base64.getMimeDecoder().decode(text.substring(begin + BEGIN.length(), end));
    } catch (IllegalArgumentException e) {
      throw new IOException(file + " is damaged: its key is not in base 64", e);
    }
    for (String algorithm : List.of("EC", "RSA", "Ed25519")) {
      try {
        return KeyFactory.getInstance(algorithm).generatePrivate(new PKCS8EncodedKeySpec(der));
      } catch (InvalidKeySpecException e) {
        // It is another kind of key: try the next one.
      } catch (GeneralSecurityException e) {
        throw new IOException("this Java cannot read keys of type " + algorithm, e);
      }
    }
    throw new IOException(file + " has a key that is none of EC, RSA, Ed25519");
  }

  /** Creates a context; null means the defaults of the JDK. */
  public static SSLContext context(@Nullable X509KeyManager keys, @Nullable X509TrustManager trust)
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

  /**
   * Returns what shows the certificate of a file.
   *
   * @throws IOException naming the file, and why it cannot be used
   */
  public static X509KeyManager keys(Path certificate, Path key) throws IOException {
    List<X509Certificate> chain = certificates(certificate);
    try {
      char[] unused = new char[0];
      KeyStore own = empty();
      own.setKeyEntry("own", privateKey(key), unused, chain.toArray(new Certificate[0]));
      KeyManagerFactory keys =
          KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
      keys.init(own, unused);
      return only(X509KeyManager.class, keys.getKeyManagers());
    } catch (GeneralSecurityException e) {
      throw new IOException(
          "cannot use " + certificate + " with " + key + ": " + e.getMessage(), e);
    }
  }

  /**
   * Returns what trusts the authorities of a file.
   *
   * @throws IOException naming the file, and why it cannot be used
   */
  public static X509TrustManager trust(Path authority) throws IOException {
    try {
      KeyStore trusted = empty();
      int number = 0;
      for (X509Certificate each : certificates(authority)) {
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
}
