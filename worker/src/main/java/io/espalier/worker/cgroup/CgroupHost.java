package io.espalier.worker.cgroup;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * The control group hierarchies mounted on this host, and the group of this process in each. It
 * does not know what may be written: see {@link CgroupFactory}. Immutable.
 */
public final class CgroupHost {
  private static final Set<String> MOUNT_OPTIONS =
      Set.of("rw", "ro", "relatime", "noprefix", "clone_children", "xattr", "cpuset_v2_mode");

  private final List<Hierarchy> hierarchies;

  private CgroupHost(List<Hierarchy> hierarchies) {
    this.hierarchies = List.copyOf(hierarchies);
  }

  /**
   * A mounted hierarchy.
   *
   * @param mount mount point of its root, or of the part of it that this process may see
   * @param version 1 or 2
   * @param controllers in version 1, the controllers bound to it; in version 2, those that this
   *     process's group can delegate to groups below it
   * @param own the directory of this process's group
   */
  public record Hierarchy(Path mount, int version, Set<String> controllers, Path own) {
    public Hierarchy {
      controllers = Collections.unmodifiableSet(new LinkedHashSet<>(controllers));
    }
  }

  /** Discovers the hierarchies of this host; finds none on systems other than Linux. */
  public static CgroupHost discover() {
    try {
      return parse(
          Files.readString(Path.of("/proc/self/mountinfo")),
          Files.readString(Path.of("/proc/self/cgroup")));
    } catch (IOException e) {
      return none();
    }
  }

  /** Returns a host without control groups. */
  public static CgroupHost none() {
    return new CgroupHost(List.of());
  }

  /**
   * @param mountInfo content in the format of {@code /proc/self/mountinfo}
   * @param membership content in the format of {@code /proc/self/cgroup}
   */
  public static CgroupHost parse(String mountInfo, String membership) {
    Map<String, String> paths = new HashMap<>();
    for (String line : membership.split("\n", -1)) {
      String[] parts = line.split(":", 3);
      if (parts.length == 3) {
        // Version 2 is the line without controllers.
        paths.put(sorted(parts[1]), parts[2]);
      }
    }
    List<Hierarchy> found = new ArrayList<>();
    Set<Path> seen = new TreeSet<>();
    for (String line : mountInfo.split("\n", -1)) {
      int dash = line.indexOf(" - ");
      String[] left = line.split(" ", -1);
      if (dash < 0 || left.length < 5) {
        continue;
      }
      String[] right = line.substring(dash + 3).split(" ", -1);
      if (right.length < 3 || !(right[0].equals("cgroup") || right[0].equals("cgroup2"))) {
        continue;
      }
      Path mount = Path.of(unescape(left[4]));
      String root = unescape(left[3]);
      boolean second = right[0].equals("cgroup2");
      Set<String> controllers = second ? Set.of() : controllers(right[2]);
      String path = paths.get(second ? "" : sorted(String.join(",", controllers)));
      if (path == null || !seen.add(mount)) {
        continue;
      }
      Path own = own(mount, root, path);
      found.add(
          new Hierarchy(
              mount,
              second ? 2 : 1,
              second ? words(own.resolve("cgroup.controllers")) : controllers,
              own));
    }
    return new CgroupHost(found);
  }

  private static Set<String> controllers(String superOptions) {
    Set<String> controllers = new LinkedHashSet<>();
    for (String option : superOptions.split(",", -1)) {
      if (option.startsWith("name=") || !(option.contains("=") || MOUNT_OPTIONS.contains(option))) {
        controllers.add(option);
      }
    }
    return controllers;
  }

  /** Sorts the controllers, since the kernel does not list them in the same order everywhere. */
  private static String sorted(String controllers) {
    String[] names = controllers.split(",", -1);
    Arrays.sort(names);
    return String.join(",", names);
  }

  private static Path own(Path mount, String root, String path) {
    String below = path;
    if (!root.equals("/")) {
      // Only a part of the hierarchy is mounted, as in containers.
      below = path.equals(root) || path.startsWith(root + "/") ? path.substring(root.length()) : "";
    }
    Path own = below.length() <= 1 ? mount : mount.resolve(below.substring(1));
    if (own.endsWith(Delegation.SUPERVISOR)) {
      // An earlier supervisor in this process moved into a child group: the group we were given is
      // its parent.
      own = own.resolveSibling("");
    }
    // A path with ".." lies outside the part that is mounted here.
    return own.normalize().startsWith(mount) && Files.isDirectory(own) ? own : mount;
  }

  private static Set<String> words(Path file) {
    try {
      String text = Files.readString(file).strip();
      return text.isEmpty() ? Set.of() : new LinkedHashSet<>(List.of(text.split("\\s+")));
    } catch (IOException e) {
      return Set.of();
    }
  }

  /** Decodes the octal escapes of blanks, tabs, newlines and backslashes. */
  private static String unescape(String text) {
    if (text.indexOf('\\') < 0) {
      return text;
    }
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    for (int i = 0; i < bytes.length; i++) {
      if (bytes[i] == '\\' && i + 3 < bytes.length) {
        out.write(Integer.parseInt(new String(bytes, i + 1, 3, StandardCharsets.US_ASCII), 8));
        i += 3;
      } else {
        out.write(bytes[i]);
      }
    }
    return out.toString(StandardCharsets.UTF_8);
  }

  public List<Hierarchy> hierarchies() {
    return hierarchies;
  }

  /** Returns the hierarchy of version 2, which may have no controllers. */
  public Optional<Hierarchy> unified() {
    return hierarchies.stream().filter(h -> h.version() == 2).findFirst();
  }

  /** Returns the hierarchy in which a controller, by its name in version 1 or 2, is active. */
  public Optional<Hierarchy> of(String controller) {
    return hierarchies.stream().filter(h -> h.controllers().contains(controller)).findFirst();
  }
}
