package io.espalier.thrift.rpc;

import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.MessageDigest;
import java.security.cert.Certificate;
import java.security.cert.X509Certificate;
import java.util.List;
import java.util.Optional;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import org.jspecify.annotations.Nullable;

/**
 * How the two ends of a connection authenticate each other: TLS with certificates on both sides, a
 * shared secret, both, or neither. The certificate authority must be the cluster's own: every
 * holder of one of its certificates is a member. Names in certificates are not compared with
 * addresses, because workers choose their addresses.
 *
 * <p>Immutable. {@link #toString} shows no secret.
 */
public final class RpcSecurity {
  private static final int LEAST_SECRET = 8;
  private static final int MOST_SECRET = 1_024;

  private final @Nullable SSLContext tls;
  private final byte @Nullable [] secret;

  private RpcSecurity(@Nullable SSLContext tls, byte @Nullable [] secret) {
    this.tls = tls;
    this.secret = secret;
  }

  /** Returns no authentication: every peer that can connect is accepted. For loopback. */
  public static RpcSecurity none() {
    return new RpcSecurity(null, null);
  }

  /** Returns authentication by a secret, without TLS. */
  public static RpcSecurity secret(String secret) {
    return new RpcSecurity(null, secret.getBytes(StandardCharsets.UTF_8));
  }

  /**
   * @param files certificate chain, key and authority, all or none
   * @param tokenFile file whose trimmed text is the secret
   * @throws IOException naming the file that cannot be used, and why
   */
  public static RpcSecurity of(Optional<TlsFiles> files, Optional<Path> tokenFile)
      throws IOException {
    SSLContext context = files.isPresent() ? context(files.get()) : null;
    byte[] secret = tokenFile.isPresent() ? token(tokenFile.get()) : null;
    return new RpcSecurity(context, secret);
  }

  /** Paths of PEM files. */
  public record TlsFiles(Path certificate, Path key, Path authority) {}

  private static byte[] token(Path file) throws IOException {
    String text = Files.readString(file).strip();
    if (text.length() < LEAST_SECRET || text.length() > MOST_SECRET) {
      throw new IOException(
          file
              + " must hold a secret of "
              + LEAST_SECRET
              + " to "
              + MOST_SECRET
              + " characters; openssl rand -hex 32 makes one");
    }
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private static SSLContext context(TlsFiles files) throws IOException {
    List<X509Certificate> chain = Pem.certificates(files.certificate());
    try {
      char[] unused = new char[0];
      KeyStore own = KeyStore.getInstance("PKCS12");
      own.load(null, unused);
      own.setKeyEntry(
          "own", Pem.privateKey(files.key()), unused, chain.toArray(new Certificate[0]));
      KeyManagerFactory keys =
          KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
      keys.init(own, unused);
      KeyStore trusted = KeyStore.getInstance("PKCS12");
      trusted.load(null, unused);
      int number = 0;
      for (X509Certificate authority : Pem.certificates(files.authority())) {
        trusted.setCertificateEntry("ca" + number++, authority);
      }
      TrustManagerFactory trust =
          TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
      trust.init(trusted);
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(keys.getKeyManagers(), trust.getTrustManagers(), null);
      return context;
    } catch (GeneralSecurityException e) {
      throw new IOException(
          "cannot use " + files.certificate() + " with " + files.key() + ": " + e.getMessage(), e);
    }
  }

  /** Returns whether peers must authenticate. */
  public boolean authenticates() {
    return tls != null || secret != null;
  }

  /**
   * Checks whether it is acceptable to listen on the host.
   *
   * @param flag flag that gave the address, for the message
   * @return objection; empty when there is none
   */
  public Optional<String> objection(String flag, String host, boolean insecure) {
    try {
      if (insecure || authenticates() || InetAddress.getByName(host).isLoopbackAddress()) {
        return Optional.empty();
      }
      return Optional.of(
          flag
              + " "
              + host
              + " can be reached from elsewhere, and nothing says who may: give --token-file, or"
              + " --tls-cert, --tls-key and --tls-ca; or listen on 127.0.0.1; or say --insecure if"
              + " everybody in that network may run commands here");
    } catch (UnknownHostException e) {
      return Optional.of(flag + " " + host + ": unknown host");
    }
  }

  @Nullable SSLContext tls() {
    return tls;
  }

  @Nullable String secretText() {
    return secret == null ? null : new String(secret, StandardCharsets.UTF_8);
  }

  /** Compares a secret in a time that does not reveal how much of it was right. */
  boolean accepts(@Nullable String offered) {
    byte[] wanted = secret;
    return wanted == null
        || (offered != null
            && MessageDigest.isEqual(wanted, offered.getBytes(StandardCharsets.UTF_8)));
  }

  /** Describes, for people, what protects the connection. */
  @Override
  public String toString() {
    if (tls != null) {
      return secret == null
          ? "TLS with client certificates"
          : "TLS with client certificates, token";
    }
    return secret == null ? "none" : "token";
  }
}
