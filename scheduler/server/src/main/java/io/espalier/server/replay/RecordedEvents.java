package io.espalier.server.replay;

import io.espalier.core.config.read.ConfigParser;
import io.espalier.core.json.Json;
import io.espalier.core.problem.Result;
import io.espalier.core.scheduling.CoreEvent;
import io.espalier.json.JsonReader;
import java.io.BufferedInputStream;
import java.io.BufferedReader;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.zip.GZIPInputStream;
import java.util.zip.ZipException;
import org.jspecify.annotations.Nullable;

/**
 * Reads a recording from its first event to its last, without loading it into memory. Not
 * thread-safe. Reading throws {@link BadRecordingException} when the file is not a recording.
 */
public final class RecordedEvents implements Iterator<CoreEvent>, AutoCloseable {
  /** The maximum length of a line: a configuration. */
  private static final int MOST_BYTES = JsonReader.MAX_CONFIG_BYTES;

  private final BufferedReader in;
  private final Json.Obj head;
  private final long seed;
  private final LineEvents events;
  private long line;
  private boolean cutOff;

  /** The other events of the line. */
  private Iterator<CoreEvent> ofLine = Collections.emptyIterator();

  private @Nullable CoreEvent next;

  /** Thrown when the file is not a recording, or a broken one. */
  public static final class BadRecordingException extends RuntimeException {
    private static final long serialVersionUID = 1;

    BadRecordingException(String message) {
      super(message);
    }
  }

  private RecordedEvents(BufferedReader in, ConfigParser parser) {
    this.in = in;
    head = readLine() instanceof Json.Obj object ? object : Json.Obj.EMPTY;
    boolean known =
        head.get(Recording.KEY) instanceof Json.Num version
            && version.value().intValue() >= Recording.FIRST_VERSION
            && version.value().intValue() <= Recording.VERSION;
    if (!known || !(head.get("seed") instanceof Json.Str said)) {
      throw new BadRecordingException(
          "this is no recording of version "
              + Recording.FIRST_VERSION
              + " to "
              + Recording.VERSION
              + " of espalier");
    }
    seed = LineEvents.number(said.value());
    events = new LineEvents(parser, this::readLine);
    next = read();
  }

  /**
   * @param parser that knows the plug-ins of the recorded scheduler
   * @throws IOException when the file cannot be read
   * @throws BadRecordingException when it is not a recording
   */
  public static RecordedEvents open(Path file, ConfigParser parser) throws IOException {
    return read(new BufferedInputStream(Files.newInputStream(file)), parser);
  }

  /** The same from any stream, which is closed with this. */
  static RecordedEvents read(InputStream raw, ConfigParser parser) throws IOException {
    try {
      return new RecordedEvents(
          new BufferedReader(
              new InputStreamReader(new GZIPInputStream(raw), StandardCharsets.UTF_8)),
          parser);
    } catch (IOException | RuntimeException e) {
      raw.close();
      if (e instanceof ZipException) {
        throw new BadRecordingException("this is no recording: " + e.getMessage());
      }
      throw e;
    }
  }

  /** Returns the first line. */
  Json.Obj head() {
    return head;
  }

  /** Returns the seed of the recorded core. */
  public long seed() {
    return seed;
  }

  /** Returns the number of the line that was read last. */
  public long line() {
    return line;
  }

  /**
   * Returns true when the end of the file is missing, because the process that wrote it was killed.
   */
  public boolean isCutOff() {
    return cutOff;
  }

  @Override
  public boolean hasNext() {
    return next != null;
  }

  @Override
  public CoreEvent next() {
    CoreEvent event = next;
    if (event == null) {
      throw new NoSuchElementException();
    }
    next = read();
    return event;
  }

  private @Nullable CoreEvent read() {
    if (ofLine.hasNext()) {
      return ofLine.next();
    }
    Json value = readLine();
    try {
      ofLine = value == null ? Collections.emptyIterator() : events.events(value).iterator();
      return ofLine.hasNext() ? ofLine.next() : null;
    } catch (LineEvents.CutOffException e) {
      return null;
    } catch (IllegalArgumentException e) {
      throw new BadRecordingException("line " + line + ": " + e.getMessage());
    }
  }

  private @Nullable Json readLine() {
    try {
      String text = cutOff ? null : in.readLine();
      if (text == null) {
        return null;
      }
      line++;
      Result<Json> json = JsonReader.strict().withMaxBytes(MOST_BYTES).read(text);
      Json value = json.value();
      if (value == null) {
        // An incomplete last line is a cut-off recording; text after it would be an error.
        cutOff = in.readLine() == null;
        if (!cutOff) {
          throw new BadRecordingException("line " + line + ": " + json.problems().get(0).message());
        }
      }
      return value;
    } catch (EOFException e) {
      cutOff = true;
      return null;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void close() throws IOException {
    in.close();
  }
}
