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
 * Writes what is done to a core to a file, as compressed lines, on a thread of its own.
 *
 * <p><b>A slow disk.</b> Up to {@link #MOST_WAITING} events wait in memory. When it cannot keep up
 * even so, the core waits for it, for {@link #PATIENCE} at most: a recording with a gap is worth
 * nothing. After that, and when writing fails, as on a full disk, the recording ends with what is
 * written by then, which can be replayed; the scheduler goes on and says so ({@link #problem}).
 *
 * <p>At most a second and what waits in memory is lost when the process is killed. Threads: {@link
 * #recorded} is for the core's, {@link #close} for the one that closes it once the core is at rest,
 * {@link #problem} for any.
 */
public final class Recording implements CoreEventListener, AutoCloseable {
  static final String KEY = "espalier_recording";
  static final int VERSION = 1;

  /** A second of a scheduler that is as busy as one can be. */
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
    return to(
        file,
        Files.newOutputStream(file, StandardOpenOption.WRITE),
        seed,
        selectors,
        MOST_WAITING,
        PATIENCE);
  }

  /**
   * The same to any stream, which is closed with it.
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
      // In steps, as it may fail meanwhile.
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

  /** Why it has ended before its time; empty: it has not. */
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
    } catch (UncheckedIOException e) {
      failed(String.valueOf(e.getCause()));
    } catch (IOException | RuntimeException e) {
      failed(e.toString());
    } catch (InterruptedException e) {
      failed("interrupted");
    }
    // Who waits for room sees that nothing is written any more.
    waiting.clear();
    try {
      out.close();
    } catch (IOException e) {
      failed("the end is lost: " + e);
    }
  }

  @SuppressWarnings("ReferenceEquality") // The last one is that object.
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
      // Time ends a burst of events: then others may read what there is.
      boolean atRest = event == null || event instanceof CoreEvent.Advanced;
      if (atRest && System.nanoTime() - flushed > FLUSH_NANOS) {
        out.flush();
        flushed = System.nanoTime();
      }
      if (event == null && failure != null) {
        // What was taken before it became too slow is written.
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

  /** Waits until all is written, for {@link #PATIENCE} at most. */
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
