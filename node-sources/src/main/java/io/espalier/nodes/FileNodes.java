package io.espalier.nodes;

import io.espalier.core.config.Levels;
import io.espalier.core.config.NodeSourceSpec;
import io.espalier.core.json.Json;
import io.espalier.core.problem.Problem;
import io.espalier.core.problem.Result;
import io.espalier.core.topology.NodeLookup;
import io.espalier.core.topology.NodeSink;
import io.espalier.core.topology.NodeSource;
import io.espalier.core.topology.NodeSourceContext;
import io.espalier.core.topology.NodeSourceException;
import io.espalier.core.topology.NodeSourceType;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * {@code file}: the nodes listed in a file, as JSON, as CSV with a header, or one per line.
 *
 * <p>Preferences: {@code parent_level}; {@code path}, absolute or relative to the directory of the
 * configuration; with the placeholder {@code {parent}} there is a file for each parent, whose name
 * must then be a plain file name; {@code format} (default: by the extension of the path), {@code
 * items} and {@code separator} as in {@link RowParser}; {@code columns} and {@code distinct} as in
 * {@link ColumnMapping}; {@code max_bytes} of a file (64 MiB); {@code refresh_sec}; {@code
 * timeout_sec} (60).
 */
public final class FileNodes implements NodeSource {
  private static final int DEFAULT_MAX_BYTES = 64 << 20;
  private static final int MOST_BYTES = 1 << 30;

  private final int parentLevel;
  private final NameFormat file;
  private final String directory;
  private final RowParser text;
  private final ColumnMapping columns;
  private final int maxBytes;
  private final Optional<Duration> refresh;
  private final Duration timeout;
  private final String path;

  private FileNodes(
      int parentLevel,
      NameFormat file,
      String directory,
      RowParser text,
      ColumnMapping columns,
      int maxBytes,
      Optional<Duration> refresh,
      Duration timeout,
      String path) {
    this.parentLevel = parentLevel;
    this.file = file;
    this.directory = directory;
    this.text = text;
    this.columns = columns;
    this.maxBytes = maxBytes;
    this.refresh = refresh;
    this.timeout = timeout;
    this.path = path;
  }

  @Override
  public Optional<Duration> refreshEvery() {
    return refresh;
  }

  @Override
  public void fetch(NodeLookup soFar, Instant now, NodeSink sink)
      throws NodeSourceException, InterruptedException {
    RowToNodes delivery =
        new RowToNodes(
            sink,
            parentLevel,
            columns,
            path,
            "have a file for each parent, with {parent} in \"path\"");
    if (!file.uses("parent")) {
      read("", null, delivery);
    } else {
      for (String parent : soFar.names(parentLevel)) {
        if (parent.indexOf('/') >= 0 || parent.equals(".") || parent.equals("..")) {
          delivery.unusable(
              "the node \"" + parent + "\"", "has no file: its name cannot be a file's");
        } else {
          read(parent, parent, delivery);
        }
      }
    }
    delivery.finish();
  }

  private void read(String name, @Nullable String parent, RowToNodes delivery)
      throws NodeSourceException, InterruptedException {
    Path from = Path.of(directory).resolve(file.name(placeholder -> name));
    byte[] bytes;
    try {
      bytes = TimeLimit.call(timeout, "node-file", () -> bytes(from));
    } catch (TimeoutException e) {
      throw failure(from + " could not be read within " + timeout.toMillis() / 1000.0 + " s");
    } catch (ExecutionException e) {
      throw failure(why(from, e.getCause()));
    }
    if (bytes.length > maxBytes) {
      throw failure(from + " is longer than the " + maxBytes + " bytes allowed by max_bytes");
    }
    text.read(bytes, from.toString(), parent, delivery);
  }

  private byte[] bytes(Path from) throws IOException {
    if (Files.exists(from) && !Files.isRegularFile(from)) {
      throw new IOException("it is not a file");
    }
    try (InputStream in = Files.newInputStream(from)) {
      return in.readNBytes(maxBytes + 1);
    }
  }

  private static String why(Path from, @Nullable Throwable cause) {
    return cause instanceof NoSuchFileException
        ? "there is no file " + from
        : from + " cannot be read: " + (cause == null ? "" : cause.getMessage());
  }

  private NodeSourceException failure(String message) {
    return new NodeSourceException(List.of(Problem.error(path, message)));
  }

  /** Checks the preferences and creates the source. */
  public static final class Type implements NodeSourceType {
    @Override
    public String name() {
      return "file";
    }

    @Override
    public Result<NodeSource> create(
        NodeSourceSpec spec, Levels levels, NodeSourceContext context) {
      Prefs prefs = new Prefs(spec);
      int parentLevel = prefs.parentLevel(levels);
      String file = prefs.requireString("path", "the path of a file");
      NameFormat format =
          NameFormat.read("path", file == null ? "-" : file, List.of("parent"), prefs);
      if (file != null) {
        check(file, context.configDirectory(), prefs);
      }
      RowParser.Form form = RowParser.readForm(prefs);
      List<String> items = RowParser.readItems(prefs);
      String separator = prefs.string("separator", "one character", ",");
      Json separatorAt = prefs.get("separator");
      if (separatorAt != null && (separator.length() != 1 || "\"\r\n".contains(separator))) {
        prefs.expected("separator", separatorAt, "one character that is no quote");
      }
      ColumnMapping columns = ColumnMapping.read(prefs, false);
      int maxBytes = (int) prefs.integer("max_bytes", DEFAULT_MAX_BYTES, 1, MOST_BYTES);
      Optional<Duration> refresh = prefs.refresh();
      Duration timeout = prefs.timeout();
      RowParser.Form chosen = form == null ? RowParser.formOf(file == null ? "" : file) : form;
      return prefs.finish(
          () ->
              new FileNodes(
                  parentLevel,
                  format,
                  context.configDirectory(),
                  new RowParser(chosen, items, separator.charAt(0)),
                  columns,
                  maxBytes,
                  refresh,
                  timeout,
                  spec.path()));
    }

    private static void check(String file, String configDirectory, Prefs prefs) {
      String why = null;
      try {
        if (!Path.of(file).isAbsolute() && configDirectory.isEmpty()) {
          why = "must be an absolute path: this configuration has no directory";
        }
      } catch (InvalidPathException e) {
        why = "is not a path: " + e.getReason();
      }
      if (why != null) {
        NameFormat.problem(prefs, "path", "the file " + why, null);
      }
    }
  }
}
