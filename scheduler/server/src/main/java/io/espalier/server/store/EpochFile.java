package io.espalier.server.store;

import io.espalier.core.status.StoreException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.LongSupplier;

/**
 * Allocates epochs where no durable store does (rulings 6): a synced file. The data directory's
 * lock keeps other processes away. Not thread-safe.
 */
public final class EpochFile implements LongSupplier {
  private final Path file;

  public EpochFile(Path file) {
    this.file = file;
  }

  /**
   * Raises the epoch by one, durably.
   *
   * @throws StoreException when the file cannot be read as a number, or not be written
   */
  @Override
  public long getAsLong() {
    try {
      long next = Files.exists(file) ? current() + 1 : 1;
      DurableFiles.replace(file, next + "\n");
      return next;
    } catch (IOException e) {
      throw new StoreException("cannot raise the epoch in " + file + ": " + reason(e), true, e);
    }
  }

  private long current() throws IOException {
    String text = Files.readString(file).strip();
    try {
      long current = Long.parseLong(text);
      if (current > 0 && current < Long.MAX_VALUE) {
        return current;
      }
    } catch (NumberFormatException ignored) {
      // Reported below, with the numbers that are none.
    }
    throw new StoreException(
        "the epoch file " + file + " is damaged; put a number above all earlier epochs into it",
        false,
        null);
  }

  private static String reason(IOException e) {
    return e.getMessage() == null ? e.getClass().getSimpleName() : e.getMessage();
  }
}
