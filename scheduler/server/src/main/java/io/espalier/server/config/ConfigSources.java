package io.espalier.server.config;

import io.espalier.core.config.source.ConfigSource;
import io.espalier.core.config.source.ConfigSource.Unavailable;
import io.espalier.core.json.Position;
import io.espalier.core.problem.Problem;
import io.espalier.core.problem.Problem.Severity;
import java.net.URI;
import java.nio.file.FileSystemNotFoundException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Opens the sources of configuration URIs. */
public final class ConfigSources {
  private static final Pattern SCHEME =
      Pattern.compile("([A-Za-z][A-Za-z0-9+.-]+):(//)?.*", Pattern.DOTALL);

  private static final Pattern HTTP = Pattern.compile("(?is)https?://.*");

  private ConfigSources() {}

  /**
   * Returns the source of a URI: a file, a directory, {@code file:} with either, a znode, a schema
   * of MySQL, or an address of HTTP. A file that does not exist yet is a source that is unavailable
   * for now.
   *
   * @throws Unavailable when the URI is invalid
   */
  public static ConfigSource open(String uri) throws Unavailable {
    if (uri.isBlank()) {
      throw refused(uri, "the configuration must not be empty", "name a file or a directory");
    }
    try {
      if (uri.startsWith("zk://")) {
        return ZooKeeperConfigSource.of(uri);
      }
      if (uri.startsWith("mysql://")) {
        return MySqlConfigSource.of(uri);
      }
      if (HTTP.matcher(uri).matches()) {
        return HttpConfigSource.of(uri, System::nanoTime);
      }
    } catch (IllegalArgumentException e) {
      throw refused(uri, String.valueOf(e.getMessage()), null);
    }
    Path path = path(uri);
    return Files.isDirectory(path) ? new DirectoryConfigSource(path) : new FileConfigSource(path);
  }

  /** Returns the URI without a password; an address of HTTP also without its query. */
  public static String shown(String uri) {
    if (HTTP.matcher(uri).matches()) {
      return uri.replaceFirst("//[^/?#]*@", "//…@").replaceFirst("\\?[^#]*", "?…");
    }
    return uri.replaceFirst("(?s)^([A-Za-z][A-Za-z0-9+.-]*://[^/@:]*):.*@", "$1:…@")
        .replaceAll("(?i)([?&;][^=&;]*(?:password|passwd|secret|token)[^=&;]*=)[^&;]*", "$1…");
  }

  private static Path path(String uri) throws Unavailable {
    Matcher matcher = SCHEME.matcher(uri);
    String scheme = matcher.matches() ? matcher.group(1).toLowerCase(Locale.ROOT) : "";
    try {
      if (scheme.equals("file")) {
        return Path.of(URI.create(uri));
      }
      if (scheme.equals("zk")) {
        throw refused(uri, "this is not of the form zk://HOSTS/PATH", null);
      }
      if (scheme.equals("mysql")) {
        throw refused(uri, "this is not of the form mysql://user@host:port/schema", null);
      }
      if (matcher.matches() && matcher.group(2) != null) {
        throw refused(
            uri,
            "unknown kind of configuration \"" + scheme + "\"",
            "there are files, directories, http://, https://, zk:// and mysql://");
      }
      return Path.of(uri);
    } catch (InvalidPathException | FileSystemNotFoundException e) {
      throw refused(uri, "this is not a path: " + e.getMessage(), null);
    } catch (IllegalArgumentException e) {
      throw refused(uri, "this is not a URI of a file: " + e.getMessage(), null);
    }
  }

  private static Unavailable refused(String uri, String message, @Nullable String hint) {
    return new Unavailable(
        new Problem(Severity.ERROR, "", new Position(shown(uri), 0, 0), message, null, hint));
  }
}
