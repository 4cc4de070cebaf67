package io.espalier.server.shipping;

import io.espalier.nodes.HttpExchange;
import java.net.URI;
import java.nio.file.Path;
import java.util.Optional;

/**
 * The address of a receiver of task output: {@code file:///PATH}, {@code syslog://HOST:PORT}, or
 * {@code http[s]://...}, after which {@code #headers_file=FILE} may follow.
 *
 * @param uri without a fragment
 * @param headersFile file with headers that are secrets
 */
public record LogAddress(URI uri, Optional<Path> headersFile) {
  private static final String HEADERS = "headers_file=";
  private static final String FILE = "file";
  private static final String SYSLOG = "syslog";

  /**
   * Parses an address.
   *
   * @throws IllegalArgumentException with the error in it
   */
  public static LogAddress parse(String text) {
    int hash = text.indexOf('#');
    String parameter = hash < 0 ? "" : text.substring(hash + 1);
    boolean withHeaders = parameter.startsWith(HEADERS) && parameter.length() > HEADERS.length();
    if (hash >= 0 && !withHeaders) {
      throw new IllegalArgumentException("only #headers_file=FILE may follow the address");
    }
    String address = hash < 0 ? text : text.substring(0, hash);
    URI uri = URI.create(address);
    String scheme = uri.getScheme() == null ? "" : uri.getScheme();
    String objection =
        switch (scheme) {
          case FILE -> objectionToFile(uri);
          case SYSLOG -> objectionToSyslog(uri);
          case "http", "https" -> HttpExchange.objection(address);
          default ->
              "the address must begin with file:///, syslog://, http:// or https://, such as"
                  + " file:///var/log/espalier/tasks.jsonl";
        };
    if (objection.isEmpty() && withHeaders && !scheme.startsWith("http")) {
      objection = "#headers_file=FILE may follow an HTTP address only";
    }
    if (!objection.isEmpty()) {
      throw new IllegalArgumentException(objection);
    }
    return new LogAddress(
        uri,
        withHeaders
            ? Optional.of(Path.of(parameter.substring(HEADERS.length())))
            : Optional.empty());
  }

  private static String objectionToFile(URI uri) {
    boolean plain = uri.getAuthority() == null && uri.getPath() != null && uri.getQuery() == null;
    return plain && uri.getPath().length() > 1 && !uri.getPath().endsWith("/")
        ? ""
        : "a file is named by its absolute path, such as file:///var/log/espalier/tasks.jsonl";
  }

  private static String objectionToSyslog(URI uri) {
    boolean plain = uri.getPath() == null || uri.getPath().isEmpty();
    return plain && uri.getHost() != null && uri.getPort() > 0 && uri.getUserInfo() == null
        ? ""
        : "a syslog server is named by host and TCP port, such as syslog://127.0.0.1:601";
  }

  /** Opens the receiver; connects to nothing yet. */
  LogReceiver open() {
    return switch (uri.getScheme()) {
      case FILE -> new FileReceiver(Path.of(uri));
      case SYSLOG -> new SyslogReceiver(uri.getHost(), uri.getPort());
      default -> new HttpReceiver(uri, headersFile);
    };
  }

  /** Returns the address without a query, which may contain secrets. */
  @Override
  public String toString() {
    return HttpExchange.shown(uri);
  }
}
