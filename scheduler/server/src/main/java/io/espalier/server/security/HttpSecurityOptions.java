package io.espalier.server.security;

import io.espalier.server.CommandException;
import io.espalier.server.ExitCode;
import io.espalier.webui.http.WebSecurity;
import io.espalier.webui.security.AuditLog;
import io.espalier.webui.security.Credentials;
import io.espalier.webui.security.TokensFile;
import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;

/**
 * Configures who may call over HTTP.
 *
 * @param tokensFile the permissions of each caller; empty: every caller may do everything
 * @param tls empty: plain HTTP
 * @param allowedHosts additional host names under which clients may call the server
 */
public record HttpSecurityOptions(
    Optional<Path> tokensFile, Optional<TlsFiles> tls, Set<String> allowedHosts) {
  /** Open access, meant for loopback. */
  public static final HttpSecurityOptions OPEN =
      new HttpSecurityOptions(Optional.empty(), Optional.empty(), Set.of());

  public HttpSecurityOptions {
    allowedHosts = Set.copyOf(allowedHosts);
  }

  /**
   * Reads the files and follows their updates from then on.
   *
   * @param audit where changes are recorded
   * @throws CommandException naming the file that cannot be used
   */
  public WebSecurity open(AuditLog audit) {
    try {
      WebSecurity security = WebSecurity.open().withAudit(audit);
      if (tokensFile.isPresent()) {
        security = security.withCredentials(Credentials.of(tokensFile.get()));
      }
      return tls.isPresent() ? security.withTls(new ReloadingTls(tls.get())) : security;
    } catch (TokensFile.Unusable e) {
      throw new CommandException(ExitCode.USAGE, String.join("\nespalier: ", e.problems()), e);
    } catch (IOException e) {
      throw new CommandException(ExitCode.USAGE, String.valueOf(e.getMessage()), e);
    }
  }

  /** Returns true when tokens would travel unencrypted to that host. */
  public boolean isInTheClear(String host) {
    try {
      return tokensFile.isPresent()
          && tls.isEmpty()
          && !InetAddress.getByName(host).isLoopbackAddress();
    } catch (UnknownHostException e) {
      return false;
    }
  }

  /** Returns all host names under which clients may call the server. */
  public Set<String> names(Set<String> more) {
    Set<String> all = new HashSet<>(allowedHosts);
    all.addAll(more);
    return all;
  }

  /**
   * Returns these options as command-line flags, with the names of files but not their contents.
   */
  public String shown() {
    return "--tokens-file="
        + tokensFile.map(Path::toString).orElse("none")
        + " HTTP over "
        + (tls.isPresent() ? "TLS" : "plain TCP")
        + " --allowed-hosts="
        + String.join(",", allowedHosts);
  }
}
