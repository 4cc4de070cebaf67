package io.espalier.worker.agent;

import io.espalier.worker.files.AtomicFiles;
import io.espalier.worker.process.os.RunPlace;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Records which worker processes have used a data directory, and where. A later process that holds
 * the lock may vouch for the earlier ones whose tasks are certainly dead: because it has searched
 * the same machine, or because that machine has been booted since.
 */
final class InstanceFile {
  private static final String NAME = "instance-places";

  /** Written by versions that recorded no places, so it proves nothing. */
  private static final String OLD_NAME = "instances";

  private static final int KEPT = 64;

  private InstanceFile() {}

  private record Line(long instance, RunPlace place) {
    @Override
    public String toString() {
      return Long.toHexString(instance) + " " + place.toLine() + "\n";
    }
  }

  /**
   * Adds this process, durably. Call it once the search for survivors finds nothing.
   *
   * @param looked whether this process searched for survivors of the last process; if not, only
   *     boots count
   * @return the earlier instances that have certainly ended, together with everything they started
   */
  static List<Long> enter(Path directory, long instance, RunPlace here, boolean looked)
      throws IOException {
    Path file = directory.resolve(NAME);
    List<Long> ended = new ArrayList<>();
    List<Line> lines = new ArrayList<>();
    for (Line line : read(file)) {
      boolean seen = looked && here.sees(line.place());
      if (seen || here.isLaterBootOf(line.place())) {
        ended.add(line.instance());
      }
      // Nobody can search any more for what we could not: our journal replaces the one that named
      // it.
      lines.add(seen ? line : new Line(line.instance(), line.place().unseen()));
    }
    lines.add(new Line(instance, here));
    StringBuilder text = new StringBuilder();
    lines.subList(Math.max(0, lines.size() - KEPT), lines.size()).forEach(text::append);
    AtomicFiles.replace(file, text.toString().getBytes(StandardCharsets.ISO_8859_1));
    Files.deleteIfExists(directory.resolve(OLD_NAME));
    return ended;
  }

  private static List<Line> read(Path file) throws IOException {
    List<Line> lines = new ArrayList<>();
    if (Files.exists(file)) {
      for (String line : Files.readAllLines(file)) {
        try {
          String[] words = line.split(" ", 2);
          lines.add(
              new Line(
                  Long.parseUnsignedLong(words[0], 16), RunPlace.ofLine(words[words.length - 1])));
        } catch (IllegalArgumentException e) {
          throw new IOException(file + " is damaged: " + line, e);
        }
      }
    }
    return lines;
  }
}
