package io.espalier.server.replay;

import io.espalier.core.json.Json;
import io.espalier.core.json.JsonWriter;
import io.espalier.core.scheduling.CoreEvent;
import io.espalier.core.scheduling.CoreEventListener;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.OutputStream;
import java.io.OutputStreamWriter;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.zip.GZIPOutputStream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes the inputs of a core to a file as compressed lines, on a separate thread.
 *
 * <p><b>A slow disk.</b> Up to {@link #MOST_WAITING} events wait in memory. When this is not
 * enough, the core waits for the recording, up to {@link #PATIENCE}, because a recording with a gap
 * is useless. After that, and when writing fails, as on a full disk, the recording ends. What was
 * written until then can be replayed; the scheduler continues and reports the {@link #problem}.
 *
 * <p>When the process is killed, at most a second and the events in memory are lost. Threads:
 * {@link #recorded} is for the core's thread, {@link #close} for the one that closes it once the
 * core is at rest, {@link #problem} for any.
 */
public final class Recording implements CoreEventListener, AutoCloseable {
  static final String KEY = "espalier_recording";

  /** The form that is written: since 2, a line has many nodes or statuses. */
  static final int VERSION = 2;

  /** The oldest form that can be read. */
  static final int FIRST_VERSION = 1;

  /** About a second of events of a scheduler under maximum load. */
  static final int MOST_WAITING = 1 << 18;

  static final Duration PATIENCE = Duration.ofSeconds(5);

  private static final Logger LOG = LoggerFactory.getLogger(Recording.class);
  private static final int BUFFER = 1 << 16;
  private static final long FLUSH_NANOS = TimeUnit.SECONDS.toNanos(1);
  private static final CoreEvent LAST = new CoreEvent.Clock(Long.MIN_VALUE);

  private final Path file;
  private final Writer out;
  private final BlockingQueue<CoreEvent> waiting;
  private final Duration patience;
  private final EventLines lines = new EventLines(this::line);
  private final Thread writing;
  private volatile @Nullable String failure;

  private Recording(Path file, OutputStream to, int mostWaiting, Duration patience)
      throws IOException {
    this.file = file;
    this.patience = patience;
    waiting = new ArrayBlockingQueue<>(mostWaiting);
    GZIPOutputStream zipped = new GZIPOutputStream(to, BUFFER, /* syncFlush= */ true);
    out = new BufferedWriter(new OutputStreamWriter(zipped, StandardCharsets.UTF_8), BUFFER);
    writing = new Thread(this::write, "recording");
    writing.setDaemon(true);
  }

  /**
   * Creates a new file that only its owner may read.
   *
   * @param seed of the core
   * @param selectors names of the core's worker selectors
   * @throws IOException also when a file of that name exists
   */
  public static Recording create(Path file, long seed, Collection<String> selectors)
      throws IOException {
    FileAttribute<?> ownerOnly =
        PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));
    Files.createFile(file, ownerOnly);
    return to(
        file,
        Files.newOutputStream(file, StandardOpenOption.WRITE),
        seed,
        selectors,
        MOST_WAITING,
        PATIENCE);
  }

  /**
   * Same, to any stream, which is closed with the recording.
   *
   * @param file for messages
   */
  static Recording to(
      Path file,
      OutputStream stream,
      long seed,
      Collection<String> selectors,
      int mostWaiting,
      Duration patience)
      throws IOException {
    Recording recording = new Recording(file, stream, mostWaiting, patience);
    recording.line(
        Json.object()
            .put(KEY, VERSION)
            .put("seed", Long.toString(seed))
            .put("worker_selectors", Json.strings(List.copyOf(new TreeSet<>(selectors))))
            .build());
    recording.writing.start();
    return recording;
  }

  @Override
  public void recorded(CoreEvent event) {
    if (failure == null && !waiting.offer(event)) {
      waitFor(event);
    }
  }

  private void waitFor(CoreEvent event) {
    try {
      long until = System.nanoTime() + patience.toNanos();
      boolean taken = false;
      // In steps, because the recording may fail meanwhile.
      while (!taken && failure == null && System.nanoTime() < until) {
        taken = waiting.offer(event, 10, TimeUnit.MILLISECONDS);
      }
      if (!taken) {
        failed("the disk is too slow: " + waiting.size() + " events wait to be written");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      failed("interrupted");
    }
  }

  /** Describes why the recording ended early; empty: it did not. */
  public Optional<String> problem() {
    String why = failure;
    return why == null
        ? Optional.empty()
        : Optional.of("recording to " + file + " has ended, the scheduler goes on: " + why);
  }

  private synchronized void failed(String why) {
    if (failure == null) {
      failure = why;
      LOG.error("recording to {} ends, the scheduler goes on: {}", file, why);
    }
  }

  // ---- on its own thread

  private void write() {
    try {
      writeAll();
      lines.flush();
    } catch (UncheckedIOException e) {
      failed(String.valueOf(e.getCause()));
    } catch (IOException | RuntimeException e) {
      failed(e.toString());
    } catch (InterruptedException e) {
      failed("interrupted");
    }
    // A thread that waits for a slot in the queue then sees that nothing is written any more.
    waiting.clear();
    try {
      out.close();
    } catch (IOException e) {
      failed("the end is lost: " + e);
    }
  }

  @SuppressWarnings("ReferenceEquality") // Compares identity with the end marker.
  private void writeAll() throws IOException, InterruptedException {
    long flushed = System.nanoTime();
    while (true) {
      CoreEvent event = waiting.poll(FLUSH_NANOS, TimeUnit.NANOSECONDS);
      if (event == LAST) {
        return;
      }
      if (event != null) {
        lines.write(event);
      }
      // An Advanced event ends a burst of events: the file is flushed for readers.
      boolean atRest = event == null || event instanceof CoreEvent.Advanced;
      if (atRest && System.nanoTime() - flushed > FLUSH_NANOS) {
        lines.flush();
        out.flush();
        flushed = System.nanoTime();
      }
      if (event == null && failure != null) {
        // Everything that was accepted before the recording became too slow is written.
        return;
      }
    }
  }

  private void line(Json value) {
    try {
      out.write(JsonWriter.compact(value));
      out.write('\n');
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Waits until everything is written, up to {@link #PATIENCE}. */
  @Override
  public void close() {
    try {
      if (writing.isAlive() && !waiting.offer(LAST, patience.toNanos(), TimeUnit.NANOSECONDS)) {
        failed("the disk is too slow: its end is lost");
      }
      writing.join(Math.max(1, patience.toMillis()));
      if (writing.isAlive()) {
        failed("the disk is too slow: its end is lost");
        writing.interrupt();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
