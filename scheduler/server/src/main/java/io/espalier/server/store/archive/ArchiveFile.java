package io.espalier.server.store.archive;

import io.espalier.core.json.Json;
import io.espalier.core.problem.Result;
import io.espalier.core.status.JsonDecoder;
import io.espalier.core.status.store.StatusRow;
import io.espalier.json.JsonReader;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.Consumer;
import java.util.zip.GZIPInputStream;
import org.jspecify.annotations.Nullable;

/**
 * A file that {@link StatusArchive} has written. It is untrusted: each line is bounded and checked.
 */
public final class ArchiveFile {
  /** The most characters of a line: data of a task, its checkpoint, and 20 attempts. */
  private static final int MOST_CHARACTERS = 8 << 20;

  private final Path file;
  private int line;

  private ArchiveFile(Path file) {
    this.file = file;
  }

  /**
   * What a file has.
   *
   * @param createTime which job of its name it was; 0: not known
   * @param tasks the number of its tasks
   */
  public record Content(String job, long createTime, long tasks) {}

  /** Why a file cannot be used, in one line. */
  public static final class Unusable extends Exception {
    private static final long serialVersionUID = 1;

    Unusable(String why) {
      super(why);
    }
  }

  /**
   * Reads a file to its end.
   *
   * @param rows receives the rows, as of tasks that this scheduler has run
   * @throws Unusable when the file is missing, is none of an archive, is cut, or has a line that
   *     cannot be read; some rows may have been received by then
   */
  public static Content read(Path file, Consumer<StatusRow> rows) throws Unusable {
    if (!Files.isRegularFile(file)) {
      throw new Unusable("is not a file");
    }
    ArchiveFile reading = new ArchiveFile(file);
    try (BufferedReader in =
        new BufferedReader(
            new InputStreamReader(
                new GZIPInputStream(Files.newInputStream(file)), StandardCharsets.UTF_8))) {
      return reading.read(in, rows);
    } catch (IOException e) {
      throw new Unusable("cannot be read: " + e.getMessage());
    } catch (IllegalArgumentException e) {
      throw new Unusable("line " + reading.line + ": " + e.getMessage());
    }
  }

  private Content read(BufferedReader in, Consumer<StatusRow> rows) throws IOException {
    Json.Obj head = next(in);
    if (head == null || head.get(StatusArchive.FORMAT) == null) {
      throw new IllegalArgumentException(file.getFileName() + " is no archive of statuses");
    }
    if (ArchivedStatusLine.number(head, StatusArchive.FORMAT) != StatusArchive.VERSION) {
      throw new IllegalArgumentException("was written by a newer Espalier");
    }
    String job = ArchivedStatusLine.text(head, "job");
    long tasks = 0;
    for (Json.Obj at = next(in); at != null; at = next(in)) {
      if (at.get("node") == null) {
        if (ArchivedStatusLine.number(at, "tasks") != tasks || next(in) != null) {
          throw new IllegalArgumentException("the number of tasks is not that of its lines");
        }
        return new Content(job, ArchivedStatusLine.number(head, "create_time"), tasks);
      }
      rows.accept(ArchivedStatusLine.read(job, at));
      tasks++;
    }
    throw new IllegalArgumentException("the file is cut off");
  }

  /** Returns the object of the next line; null at the end. */
  private Json.@Nullable Obj next(BufferedReader in) throws IOException {
    line++;
    StringBuilder text = new StringBuilder();
    int at = in.read();
    if (at < 0) {
      return null;
    }
    for (; at >= 0 && at != '\n'; at = in.read()) {
      text.append((char) at);
      if (text.length() > MOST_CHARACTERS) {
        throw new IllegalArgumentException("is too long");
      }
    }
    Result<Json> read = JsonReader.parse(text.toString());
    if (read.hasErrors() || !(read.value() instanceof Json.Obj)) {
      throw new IllegalArgumentException("is no JSON object");
    }
    return (Json.Obj) JsonDecoder.withoutPositions(read.value());
  }
}
