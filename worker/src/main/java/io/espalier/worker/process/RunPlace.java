package io.espalier.worker.process;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Where a process has used a data directory. It decides what a later process on that directory may
 * say of what the earlier one started: a copied or moved directory proves nothing about another
 * machine's processes. Parts that cannot be read are empty, and prove nothing.
 *
 * @param machine {@code /etc/machine-id}
 * @param product the UUID that the firmware or the virtual machine gives
 * @param boot differs after every boot of a machine
 * @param pidNamespace whose processes it sees
 * @param directory inode of the data directory: a copy has another
 */
public record RunPlace(
    String machine, String product, String boot, String pidNamespace, String directory) {
  private static final String NONE = "-";
  private static final int PARTS = 5;

  /** This process, using that directory. */
  public static RunPlace here(Path directory) {
    return new RunPlace(
        text(Path.of("/etc/machine-id")),
        text(Path.of("/sys/class/dmi/id/product_uuid")),
        ProcFs.bootId(),
        ProcFs.pidNamespace(),
        inode(directory));
  }

  private static String text(Path file) {
    try {
      String text = Files.readString(file, StandardCharsets.ISO_8859_1).strip();
      return text.chars().anyMatch(Character::isWhitespace) ? "" : text;
    } catch (IOException e) {
      return "";
    }
  }

  private static String inode(Path directory) {
    try {
      return String.valueOf(Files.getAttribute(directory, "unix:ino"));
    } catch (IOException | UnsupportedOperationException e) {
      return "";
    }
  }

  /** Whether we, by looking, see the processes of that one: same machine, boot and namespace. */
  public boolean sees(RunPlace earlier) {
    return known(boot, earlier.boot)
        && known(pidNamespace, earlier.pidNamespace)
        && known(directory, earlier.directory)
        && machine.equals(earlier.machine)
        && product.equals(earlier.product);
  }

  /** Whether its machine, which is ours, has been booted since: then none of its processes is. */
  public boolean isLaterBootOf(RunPlace earlier) {
    return known(machine, earlier.machine)
        && known(product, earlier.product)
        && known(directory, earlier.directory)
        && !boot.isEmpty()
        && !earlier.boot.isEmpty()
        && !boot.equals(earlier.boot);
  }

  /**
   * Whether the directory there is the one here, so that its lock is one lock: by the boot, or by
   * all that tells our machine from others.
   */
  public boolean isSameDirectoryAs(RunPlace earlier) {
    return isLaterBootOf(earlier)
        || (known(boot, earlier.boot)
            && known(directory, earlier.directory)
            && machine.equals(earlier.machine)
            && product.equals(earlier.product));
  }

  /** The same for those who cannot see it: only a later boot proves its end. */
  public RunPlace unseen() {
    return new RunPlace(machine, product, boot, "", directory);
  }

  private static boolean known(String ours, String theirs) {
    return !ours.isEmpty() && ours.equals(theirs);
  }

  /** Words without blanks, for a line of a file. */
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
   * Reads what {@link #toLine} has written.
   *
   * @throws IllegalArgumentException when it has not
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
