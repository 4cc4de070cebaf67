package io.espalier.server.replay;

import io.espalier.core.json.Json;
import io.espalier.core.json.JsonWriter;
import io.espalier.core.scheduling.CoreEvent;
import io.espalier.core.scheduling.CoreRecorder;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.OutputStreamWriter;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Collection;
import java.util.List;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.zip.GZIPOutputStream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes what is done to a core to a file, as compressed lines. A tool for hunting defects: it
 * writes on the scheduler thread. When writing fails the recording ends, the scheduler goes on.
 *
 * <p>At most a second of it is lost when the process is killed. Thread: the core's, then the one
 * that closes it once the core is at rest.
 */
public final class Recording implements CoreRecorder, AutoCloseable {
  static final String KEY = "espalier_recording";
  static final int VERSION = 1;

  private static final Logger LOG = LoggerFactory.getLogger(Recording.class);
  private static final int BUFFER = 1 << 16;
  private static final long FLUSH_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final Path file;
  private final Writer out;
  private final EventLines lines = new EventLines(this::line);
  private long flushed = System.nanoTime();
  private boolean ended;

  private Recording(Path file, Writer out) {
    this.file = file;
    this.out = out;
  }

  /**
   * Begins a new file, which only its owner may read.
   *
   * @param seed of the core
   * @param selectors names of the worker selectors that the core has
   * @throws IOException also when there is a file of that name
   */
  public static Recording create(Path file, long seed, Collection<String> selectors)
      throws IOException {
    FileAttribute<?> ownerOnly =
        PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));
    Files.createFile(file, ownerOnly);
    GZIPOutputStream zipped =
        new GZIPOutputStream(
            Files.newOutputStream(file, StandardOpenOption.WRITE), BUFFER, /* syncFlush= */ true);
    Recording recording =
        new Recording(
            file,
            new BufferedWriter(new OutputStreamWriter(zipped, StandardCharsets.UTF_8), BUFFER));
    recording.line(
        Json.object()
            .put(KEY, VERSION)
            .put("seed", Long.toString(seed))
            .put("worker_selectors", Json.strings(List.copyOf(new TreeSet<>(selectors))))
            .build());
    return recording;
  }

  @Override
  public void recorded(CoreEvent event) {
    if (ended) {
      return;
    }
    try {
      lines.write(event);
      // Time ends a burst of events: then others may read what there is.
      if (event instanceof CoreEvent.Advanced && System.nanoTime() - flushed > FLUSH_NANOS) {
        out.flush();
        flushed = System.nanoTime();
      }
    } catch (UncheckedIOException | IOException e) {
      failed(e);
    }
  }

  private void failed(Exception e) {
    ended = true;
    LOG.error("recording to {} ends, the scheduler goes on: {}", file, e.toString());
  }

  private void line(Json value) {
    try {
      out.write(JsonWriter.compact(value));
      out.write('\n');
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void close() {
    ended = true;
    try {
      out.close();
    } catch (IOException e) {
      LOG.error("the end of the recording {} is lost: {}", file, e.toString());
    }
  }
}
