package io.espalier.worker.process.os;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The place from which a process used a data directory. It decides what a later process on that
 * directory may conclude about the processes that the earlier one started: a copied or moved
 * directory proves nothing about another machine's processes. Parts that cannot be read are empty
 * and prove nothing.
 *
 * @param machine {@code /etc/machine-id}
 * @param product the UUID from the firmware or the virtual machine
 * @param boot differs after every boot of a machine
 * @param pidNamespace the pid namespace of the process
 * @param directory inode of the data directory, and after an {@code @} its device: a copy has
 *     another inode, and a snapshot that is mounted elsewhere has another device. Devices get other
 *     numbers when a machine is booted, and versions before 0.2 did not write them
 */
public record RunPlace(
    String machine, String product, String boot, String pidNamespace, String directory) {
  private static final String NONE = "-";
  private static final int PARTS = 5;
  private static final String DEVICE = "@";

  /** Returns the place of this process with that directory. */
  public static RunPlace here(Path directory) {
    return new RunPlace(
        text(Path.of("/etc/machine-id")),
        text(Path.of("/sys/class/dmi/id/product_uuid")),
        ProcFs.bootId(),
        ProcFs.pidNamespace(),
        directory(directory));
  }

  private static String text(Path file) {
    try {
      String text = Files.readString(file, StandardCharsets.ISO_8859_1).strip();
      return text.chars().anyMatch(Character::isWhitespace) ? "" : text;
    } catch (IOException e) {
      return "";
    }
  }

  private static String directory(Path directory) {
    try {
      return Files.getAttribute(directory, "unix:ino")
          + DEVICE
          + Files.getAttribute(directory, "unix:dev");
    } catch (IOException | UnsupportedOperationException e) {
      return "";
    }
  }

  /**
   * Returns whether the processes of the earlier place are visible from here: same machine, boot
   * and namespace.
   */
  public boolean sees(RunPlace earlier) {
    return known(boot, earlier.boot)
        && known(pidNamespace, earlier.pidNamespace)
        && hasSameDirectoryInThisBoot(earlier)
        && machine.equals(earlier.machine)
        && product.equals(earlier.product);
  }

  /**
   * Returns whether the machine is the same and has been booted since: then none of the earlier
   * processes is alive.
   */
  public boolean isLaterBootOf(RunPlace earlier) {
    return known(machine, earlier.machine)
        && known(product, earlier.product)
        && known(inode(directory), inode(earlier.directory))
        && !boot.isEmpty()
        && !earlier.boot.isEmpty()
        && !boot.equals(earlier.boot);
  }

  /**
   * Returns whether both directories are the same one, so that its lock is a single lock: either
   * our machine has been booted since, or the machine, its boot and the directory are all
   * identical.
   */
  public boolean isSameDirectoryAs(RunPlace earlier) {
    return isLaterBootOf(earlier)
        || (known(boot, earlier.boot)
            && hasSameDirectoryInThisBoot(earlier)
            && machine.equals(earlier.machine)
            && product.equals(earlier.product));
  }

  /**
   * Returns a copy for processes that cannot see this place: only a later boot proves the end of
   * its processes.
   */
  public RunPlace unseen() {
    return new RunPlace(machine, product, boot, "", directory);
  }

  private boolean hasSameDirectoryInThisBoot(RunPlace earlier) {
    return earlier.directory.contains(DEVICE)
        ? known(directory, earlier.directory)
        : known(inode(directory), earlier.directory);
  }

  private static String inode(String directory) {
    int device = directory.indexOf(DEVICE);
    return device < 0 ? directory : directory.substring(0, device);
  }

  private static boolean known(String ours, String theirs) {
    return !ours.isEmpty() && ours.equals(theirs);
  }

  /** Formats the place as words without blanks, for a line of a file. */
  public String toLine() {
    return String.join(
        " ",
        written(machine),
        written(product),
        written(boot),
        written(pidNamespace),
        written(directory));
  }

  private static String written(String part) {
    return part.isEmpty() ? NONE : part;
  }

  /**
   * Parses a line that {@link #toLine} has formatted.
   *
   * @throws IllegalArgumentException when the line has another format
   */
  public static RunPlace ofLine(String line) {
    String[] parts = line.split(" ", -1);
    if (parts.length != PARTS) {
      throw new IllegalArgumentException("not a place: " + line);
    }
    for (int i = 0; i < PARTS; i++) {
      parts[i] = parts[i].equals(NONE) ? "" : parts[i];
    }
    return new RunPlace(parts[0], parts[1], parts[2], parts[3], parts[4]);
  }
}
