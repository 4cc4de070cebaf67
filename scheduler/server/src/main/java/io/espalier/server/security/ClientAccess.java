package io.espalier.server.security;

import io.espalier.server.CommandException;
import io.espalier.server.ExitCode;
import io.espalier.thrift.rpc.Pem;
import io.espalier.webui.security.TokensFile;
import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.http.HttpClient;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Optional;
import javax.net.ssl.HttpsURLConnection;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;

/**
 * The credentials and the trusted authorities of a client of schedulers. Immutable; {@link
 * #toString} contains no token.
 *
 * <p>The server's certificate must contain the name that was called. A certificate of the same
 * authority is not enough, because its other members could then obtain tokens.
 */
public final class ClientAccess {
  private static final int MOST_TOKEN = 1_024;

  private final String token;
  private final @Nullable SSLContext tls;

  private ClientAccess(String token, @Nullable SSLContext tls) {
    this.token = token;
    this.tls = tls;
  }

  /** Returns access without credentials that trusts the authorities of the JDK. */
  public static ClientAccess none() {
    return new ClientAccess("", null);
  }

  /**
   * Reads the files.
   *
   * @param token file whose text is the token
   * @param authority in PEM form, the only trusted one
   * @param certificate of this client, in PEM form, with its key
   * @throws CommandException (usage) naming the file that cannot be used
   */
  public static ClientAccess of(
      Optional<Path> token,
      Optional<Path> authority,
      Optional<Path> certificate,
      Optional<Path> key) {
    if (certificate.isPresent() != key.isPresent()) {
      throw new CommandException(ExitCode.USAGE, "--tls-cert and --tls-key are given both or none");
    }
    try {
      String text = token.isPresent() ? token(token.get()) : "";
      boolean system = authority.isEmpty() && certificate.isEmpty();
      return new ClientAccess(text, system ? null : context(authority, certificate, key));
    } catch (NoSuchFileException e) {
      throw new CommandException(ExitCode.USAGE, "there is no file " + e.getFile(), e);
    } catch (FileSystemException e) {
      throw new CommandException(
          ExitCode.USAGE, "cannot read " + e.getFile() + ": " + e.getReason(), e);
    } catch (IOException | TokensFile.Unusable e) {
      throw new CommandException(ExitCode.USAGE, String.valueOf(e.getMessage()), e);
    }
  }

  private static String token(Path file) throws IOException, TokensFile.Unusable {
    TokensFile.requirePrivate(file);
    String text = Files.readString(file).strip();
    if (text.isEmpty()
        || text.length() > MOST_TOKEN
        || text.chars().anyMatch(c -> c <= ' ' || c > '~')) {
      throw new IOException(file + " must hold one token and nothing else");
    }
    return text;
  }

  private static SSLContext context(
      Optional<Path> authority, Optional<Path> certificate, Optional<Path> key) throws IOException {
    return Pem.context(
        certificate.isPresent() && key.isPresent() ? Pem.keys(certificate.get(), key.get()) : null,
        authority.isPresent() ? Pem.trust(authority.get()) : null);
  }

  /** Returns the value of {@code Authorization}; empty: none. */
  public Optional<String> authorization() {
    return token.isEmpty() ? Optional.empty() : Optional.of("Bearer " + token);
  }

  /** Adds the certificates to the builder and returns it. */
  public HttpClient.Builder applyTo(HttpClient.Builder client) {
    SSLContext context = tls;
    return context == null ? client : client.sslContext(context);
  }

  /** Adds the certificates to a connection that is not open yet. */
  public void applyTo(HttpURLConnection connection) {
    SSLContext context = tls;
    if (context != null && connection instanceof HttpsURLConnection secured) {
      secured.setSSLSocketFactory(context.getSocketFactory());
    }
  }

  @Override
  public String toString() {
    return (token.isEmpty() ? "no token" : "token") + (tls == null ? "" : ", TLS files");
  }
}
