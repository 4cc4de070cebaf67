package io.espalier.server.process;

import io.espalier.server.access.ReloadingTls;
import io.espalier.server.access.TlsFiles;
import io.espalier.server.exit.CommandException;
import io.espalier.server.exit.ExitCode;
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
 * Who may call over HTTP.
 *
 * @param tokensFile who may do what; empty: everybody may do everything
 * @param tls empty: plain
 * @param allowedHosts names by which the server may be called, besides its own
 */
public record HttpSecurityOptions(
    Optional<Path> tokensFile, Optional<TlsFiles> tls, Set<String> allowedHosts) {
  /** For loopback. */
  public static final HttpSecurityOptions OPEN =
      new HttpSecurityOptions(Optional.empty(), Optional.empty(), Set.of());

  public HttpSecurityOptions {
    allowedHosts = Set.copyOf(allowedHosts);
  }

  /**
   * Reads the files, to be followed from now on.
   *
   * @param audit where changes are recorded
   * @throws CommandException naming what cannot be used
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

  /** Whether tokens can be read on the way to that host. */
  boolean isInTheClear(String host) {
    try {
      return tokensFile.isPresent()
          && tls.isEmpty()
          && !InetAddress.getByName(host).isLoopbackAddress();
    } catch (UnknownHostException e) {
      return false;
    }
  }

  /** All names by which the server may be called. */
  public Set<String> names(Set<String> more) {
    Set<String> all = new HashSet<>(allowedHosts);
    all.addAll(more);
    return all;
  }

  /** As flags; names of files only. */
  String shown() {
    return "--tokens-file="
        + tokensFile.map(Path::toString).orElse("none")
        + " HTTP over "
        + (tls.isPresent() ? "TLS" : "plain TCP")
        + " --allowed-hosts="
        + String.join(",", allowedHosts);
  }
}
