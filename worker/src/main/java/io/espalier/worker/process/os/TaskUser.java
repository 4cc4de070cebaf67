package io.espalier.worker.process.os;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.util.List;
import java.util.Set;

/**
 * A user that tasks run as.
 *
 * @param name for people and for {@code USER}
 * @param groups supplementary groups
 * @param home value of {@code HOME}
 */
public record TaskUser(String name, int uid, int gid, List<Integer> groups, String home) {
  public TaskUser {
    groups = List.copyOf(groups);
  }

  /** Gives the user a file or directory of ours; it never follows a symbolic link. */
  public void own(Path file) throws IOException {
    Files.setAttribute(file, "unix:uid", uid, LinkOption.NOFOLLOW_LINKS);
    Files.setAttribute(file, "unix:gid", gid, LinkOption.NOFOLLOW_LINKS);
  }

  public boolean owns(Path file) throws IOException {
    return Integer.valueOf(uid)
            .equals(Files.getAttribute(file, "unix:uid", LinkOption.NOFOLLOW_LINKS))
        && Integer.valueOf(gid)
            .equals(Files.getAttribute(file, "unix:gid", LinkOption.NOFOLLOW_LINKS));
  }

  /**
   * Refuses a directory that the user certainly cannot enter.
   *
   * @throws IOException naming the inaccessible directory
   */
  public void requireAccess(Path directory) throws IOException {
    for (Path at = directory.toAbsolutePath(); at != null; at = at.getParent()) {
      PosixFileAttributes found = Files.readAttributes(at, PosixFileAttributes.class);
      Set<PosixFilePermission> may = found.permissions();
      Object owner = Files.getAttribute(at, "unix:uid");
      Object group = Files.getAttribute(at, "unix:gid");
      PosixFilePermission needed = PosixFilePermission.OTHERS_EXECUTE;
      if (owner.equals(uid)) {
        needed = PosixFilePermission.OWNER_EXECUTE;
      } else if (group.equals(gid) || groups.contains(group)) {
        needed = PosixFilePermission.GROUP_EXECUTE;
      }
      boolean entered = uid == 0 || may.contains(needed);
      if (!entered) {
        throw new IOException(
            "run_as: user "
                + name
                + " may not enter "
                + at
                + ", above the working directory of the job (chmod o+x lets it pass)");
      }
    }
  }
}
