package io.espalier.worker.process.spawn;

import io.espalier.worker.process.os.TaskUser;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The JSON argument, as text and, on demand, as a private file. */
public final class JsonArgument implements CommandLine.Argument {
  private static final Logger log = LoggerFactory.getLogger(JsonArgument.class);
  private static final FileAttribute<Set<PosixFilePermission>> PRIVATE =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));

  private final String text;
  private final Path file;
  private final @Nullable TaskUser owner;
  private boolean written;

  /**
   * @param owner user who must be able to read the file; null: the user of this process
   */
  public JsonArgument(String text, Path file, @Nullable TaskUser owner) {
    this.text = text;
    this.file = file;
    this.owner = owner;
  }

  @Override
  public String text() {
    return text;
  }

  @Override
  public Path file() throws IOException {
    if (!written) {
      writePrivately(file, text, owner);
      written = true;
    }
    return file;
  }

  /** Writes a private file, because arguments and tokens of tasks are confidential. */
  public static void writePrivately(Path file, String text, @Nullable TaskUser owner)
      throws IOException {
    Files.deleteIfExists(file);
    try {
      Files.createFile(file, PRIVATE);
    } catch (UnsupportedOperationException e) {
      Files.createFile(file);
    }
    Files.write(file, text.getBytes(StandardCharsets.UTF_8), StandardOpenOption.TRUNCATE_EXISTING);
    if (owner != null) {
      owner.own(file);
    }
  }

  public void delete() {
    if (written) {
      try {
        Files.deleteIfExists(file);
      } catch (IOException e) {
        log.debug("left behind until the next start: {}", file, e);
      }
    }
  }
}
