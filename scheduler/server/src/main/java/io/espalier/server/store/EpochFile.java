package io.espalier.server.store;

import io.espalier.core.status.store.StatusStore.Earlier;
import io.espalier.core.status.store.StatusStore.TakeOver;
import io.espalier.core.status.store.StatusStore.Taken;
import io.espalier.core.status.store.StoreException;
import io.espalier.worker.files.AtomicFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.UUID;

/**
 * Stores the highest epoch that a data directory has seen in a synced file. A store in memory gets
 * its epochs from it (docs/design/design.md#at-most-once); for every other store it reveals that
 * the store was set back to an earlier day. The file has one line: the epoch; the id of the store,
 * if its epochs come from this file; and the duration of leases that may still be in force. The
 * data directory's lock excludes other processes. Not thread-safe.
 */
public final class EpochFile implements MemoryStatusStore.Epochs {
  /** Replaces the id of a store that has its own. */
  private static final String ELSEWHERE = "-";

  private final Path file;

  public EpochFile(Path file) {
    this.file = file;
  }

  private record Line(long epoch, String storeId, long leaseMillis) {}

  /**
   * Returns the highest epoch seen; 0: none.
   *
   * @throws StoreException when the file cannot be read or parsed
   */
  public long highest() {
    return read().epoch();
  }

  /**
   * Returns how long leases of leaderships in this directory may last that were not outwaited; 0:
   * none are known.
   *
   * @throws StoreException as {@link #highest}
   */
  public long leaseMillis() {
    return read().leaseMillis();
  }

  /**
   * Durably stores an epoch that a store has assigned, unless a higher one was seen.
   *
   * @throws StoreException when the file cannot be read or written
   */
  public void seen(long epoch) {
    Line line = read();
    if (epoch > line.epoch()) {
      write(new Line(epoch, line.storeId(), line.leaseMillis()));
    }
  }

  /**
   * Same, together with the lease duration of the leadership with that epoch.
   *
   * @throws StoreException when the file cannot be read or written
   */
  public void seen(long epoch, long leaseMillis) {
    Line line = read();
    Line next =
        new Line(
            Math.max(epoch, line.epoch()),
            line.storeId(),
            Math.max(leaseMillis, line.leaseMillis()));
    if (!next.equals(line)) {
      write(next);
    }
  }

  @Override
  public void outwaited(long leaseMillis) {
    Line line = read();
    if (leaseMillis != line.leaseMillis()) {
      write(new Line(line.epoch(), line.storeId(), leaseMillis));
    }
  }

  /**
   * Raises the epoch durably.
   *
   * @throws StoreException when the file cannot be read or written
   */
  @Override
  public Taken raise(TakeOver how) {
    Line line = read();
    long next = Math.max(line.epoch() + 1, how.atLeast());
    String storeId = line.storeId().isEmpty() ? UUID.randomUUID().toString() : line.storeId();
    write(new Line(next, storeId, Math.max(line.leaseMillis(), how.leaseMillis())));
    return new Taken(next, storeId, line.leaseMillis(), Earlier.NEW_STORE);
  }

  private void write(Line line) {
    try {
      String text =
          line.epoch()
              + " "
              + (line.storeId().isEmpty() ? ELSEWHERE : line.storeId())
              + " "
              + line.leaseMillis()
              + "\n";
      AtomicFiles.replace(file, text);
    } catch (IOException e) {
      throw failed("write", e);
    }
  }

  private Line read() {
    try {
      if (!Files.exists(file)) {
        return new Line(0, "", 0);
      }
      List<String> words = List.of(Files.readString(file).strip().split(" ", -1));
      long epoch = Long.parseLong(words.get(0));
      if (epoch > 0 && epoch < Long.MAX_VALUE && (words.size() == 1 || words.size() == 3)) {
        return words.size() == 1
            ? new Line(epoch, "", 0)
            : new Line(
                epoch,
                words.get(1).equals(ELSEWHERE) ? "" : words.get(1),
                Long.parseLong(words.get(2)));
      }
    } catch (IOException e) {
      throw failed("read", e);
    } catch (NumberFormatException ignored) {
      // Reported below, like numbers out of range.
    }
    throw new StoreException(
        "the epoch file " + file + " is damaged; put a number above all earlier epochs into it",
        false,
        null);
  }

  private StoreException failed(String what, IOException e) {
    return new StoreException(
        "cannot " + what + " the epoch in " + file + ": " + reason(e), true, e);
  }

  private static String reason(IOException e) {
    return e.getMessage() == null ? e.getClass().getSimpleName() : e.getMessage();
  }
}
