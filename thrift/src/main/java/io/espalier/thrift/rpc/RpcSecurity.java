package io.espalier.thrift.rpc;

import io.netty.channel.Channel;
import io.netty.handler.ssl.ClientAuth;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.ssl.SslProvider;
import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.PrivateKey;
import java.security.cert.X509Certificate;
import java.util.Optional;
import javax.net.ssl.SSLException;
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
  /** The time that a peer which reads nothing may delay the end of its connection. */
  private static final long CLOSE_MILLIS = 500;

  private static final int LEAST_SECRET = 8;
  private static final int MOST_SECRET = 1_024;

  private final @Nullable SslContext server;
  private final @Nullable SslContext client;
  private final byte @Nullable [] secret;

  private RpcSecurity(
      @Nullable SslContext server, @Nullable SslContext client, byte @Nullable [] secret) {
    this.server = server;
    this.client = client;
    this.secret = secret;
  }

  /** Returns no authentication: every peer that can connect is accepted. For loopback. */
  public static RpcSecurity none() {
    return new RpcSecurity(null, null, null);
  }

  /** Returns authentication by a secret, without TLS. */
  public static RpcSecurity secret(String secret) {
    return new RpcSecurity(null, null, secret.getBytes(StandardCharsets.UTF_8));
  }

  /**
   * @param files certificate chain, key and authority, all or none
   * @param tokenFile file whose trimmed text is the secret
   * @throws IOException naming the file that cannot be used, and why
   */
  public static RpcSecurity of(Optional<TlsFiles> files, Optional<Path> tokenFile)
      throws IOException {
    SslContext server = files.isPresent() ? context(files.get(), true) : null;
    SslContext client = files.isPresent() ? context(files.get(), false) : null;
    byte[] secret = tokenFile.isPresent() ? token(tokenFile.get()) : null;
    return new RpcSecurity(server, client, secret);
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

  private static SslContext context(TlsFiles files, boolean server) throws IOException {
    X509Certificate[] chain = Pem.certificates(files.certificate()).toArray(new X509Certificate[0]);
    PrivateKey key = Pem.privateKey(files.key());
    try {
      SslContextBuilder builder =
          server
              ? SslContextBuilder.forServer(key, chain).clientAuth(ClientAuth.REQUIRE)
              : SslContextBuilder.forClient()
                  .keyManager(key, chain)
                  .endpointIdentificationAlgorithm(null);
      return builder
          .sslProvider(SslProvider.JDK)
          .trustManager(Pem.certificates(files.authority()))
          .build();
    } catch (SSLException | IllegalArgumentException e) {
      throw new IOException(
          "cannot use " + files.certificate() + " with " + files.key() + ": " + e.getMessage(), e);
    }
  }

  /** Returns whether peers must authenticate. */
  public boolean authenticates() {
    return isTls() || secret != null;
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

  boolean isTls() {
    return server != null;
  }

  /** Returns the TLS end of a new connection; null without TLS. */
  @Nullable SslHandler handler(Channel channel, boolean opened) {
    SslContext context = opened ? client : server;
    if (context == null) {
      return null;
    }
    SslHandler tls = context.newHandler(channel.alloc());
    tls.setCloseNotifyFlushTimeoutMillis(CLOSE_MILLIS);
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
    if (isTls()) {
      return secret == null
          ? "TLS with client certificates"
          : "TLS with client certificates, token";
    }
    return secret == null ? "none" : "token";
  }
}
