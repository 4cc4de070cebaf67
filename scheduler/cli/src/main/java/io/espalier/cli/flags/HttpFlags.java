package io.espalier.cli.flags;

import io.espalier.server.app.options.HostPort;
import io.espalier.server.security.HttpSecurityOptions;
import io.espalier.server.security.TlsFiles;
import io.espalier.webui.security.TokensFile;
import io.espalier.webui.tls.TlsSource;
import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The flags of the HTTP listener and its access control. */
public final class HttpFlags {
  @Option(names = "--http", paramLabel = "HOST:PORT", description = "Where to serve HTTP.")
  private @Nullable String http;

  @Option(
      names = "--tokens-file",
      paramLabel = "FILE",
      description =
          "Who may do what over HTTP: lines of NAME ROLE TOKEN, see docs/security.md; changes are"
              + " followed.")
  private @Nullable Path tokensFile;

  @Option(
      names = "--allowed-hosts",
      paramLabel = "NAMES",
      description =
          "Names, separated by commas, by which browsers and clients may call this server besides"
              + " the one it listens on; * for any.")
  private @Nullable String allowedHosts;

  /**
   * @param otherwise the address without the flag; null: no listener
   */
  public Optional<HostPort> listener(
      @Nullable String otherwise, boolean insecure, List<String> problems) {
    String address = http == null ? otherwise : http;
    if (address == null) {
      if (tokensFile != null || allowedHosts != null) {
        problems.add("--tokens-file and --allowed-hosts need --http HOST:PORT");
      }
      return Optional.empty();
    }
    try {
      HostPort listener = HostPort.parse(address);
      objection("--http", listener.host(), insecure || tokensFile != null).ifPresent(problems::add);
      return Optional.of(listener);
    } catch (IllegalArgumentException e) {
      problems.add("--http " + address + ": " + e.getMessage());
      return Optional.empty();
    }
  }

  /**
   * Returns why it must not listen there.
   *
   * @param allowed whether access control is configured, or was explicitly waived
   */
  static Optional<String> objection(String flag, String host, boolean allowed) {
    try {
      // Resolved also when it is allowed, to report an unknown host now.
      if (InetAddress.getByName(host).isLoopbackAddress() || allowed) {
        return Optional.empty();
      }
      return Optional.of(
          flag
              + " "
              + host
              + " can be reached from elsewhere, and nothing says who may: give --tokens-file (and"
              + " --tls-cert and --tls-key, see docs/security.md); or listen on 127.0.0.1; or say"
              + " --insecure if everybody in that network may run commands here");
    } catch (UnknownHostException e) {
      return Optional.of(flag + " " + host + ": unknown host");
    }
  }

  /**
   * @param tls already checked
   */
  public HttpSecurityOptions access(Optional<TlsFiles> tls, List<String> problems) {
    Path file = tokensFile;
    if (file != null) {
      try {
        TokensFile.read(file);
      } catch (TokensFile.Unusable e) {
        problems.addAll(e.problems());
      }
    }
    if (tls.isPresent()) {
      try {
        TlsSource.Material unused = tls.get().read();
      } catch (IOException e) {
        problems.add(String.valueOf(e.getMessage()));
      }
    }
    return new HttpSecurityOptions(Optional.ofNullable(file), tls, hosts(problems));
  }

  private Set<String> hosts(List<String> problems) {
    Set<String> hosts = new HashSet<>();
    if (allowedHosts != null) {
      Arrays.stream(allowedHosts.split(",", -1)).map(String::strip).forEach(hosts::add);
    }
    for (String host : hosts) {
      boolean name = host.matches("[A-Za-z0-9._-]+") || host.matches("\\[?[0-9A-Fa-f:.]+\\]?");
      if (!name && !host.equals("*")) {
        problems.add(
            "--allowed-hosts: \"" + host + "\" is no host; give names without scheme and port");
      }
    }
    return hosts;
  }
}
