package io.espalier.worker.resources;

import io.espalier.core.config.task.SubprocessOptions.Cgroups;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The place of a process in the control groups of its host: for each controller the directories
 * from its own group up to the highest visible one.
 *
 * @param v1 by controller, such as {@code memory}; own group first; absent: not mounted
 * @param v2 of the unified hierarchy, own group first; empty: not mounted
 */
record CgroupPlace(Map<String, List<Path>> v1, List<Path> v2) {
  static final CgroupPlace NONE = new CgroupPlace(Map.of(), List.of());

  CgroupPlace {
    v1 = Map.copyOf(v1);
    v2 = List.copyOf(v2);
  }

  /** Returns the groups of a version 1 controller, own first; empty when it is not mounted. */
  List<Path> of(String controller) {
    return v1.getOrDefault(controller, List.of());
  }

  /**
   * Returns the place of this process, from {@code /proc/self}; without it, the usual mount point.
   *
   * @param root parent of {@code proc} and {@code sys}
   */
  static CgroupPlace ofSelf(Path root) {
    Map<String, String> paths = new HashMap<>();
    for (String line : lines(root.resolve("proc/self/cgroup"))) {
      String[] parts = line.split(":", 3);
      if (parts.length == 3) {
        for (String controller : parts[1].split(",", -1)) {
          paths.put(controller, parts[2]);
        }
      }
    }
    Map<String, List<Path>> v1 = new HashMap<>();
    List<Path> v2 = List.of();
    for (String line : lines(root.resolve("proc/self/mountinfo"))) {
      // ID PARENT MAJOR:MINOR ROOT MOUNT-POINT OPTIONS... - TYPE SOURCE SUPER-OPTIONS
      int dash = line.indexOf(" - ");
      String[] before = line.split(" ", 6);
      String[] after = dash < 0 ? new String[0] : line.substring(dash + 3).split(" ", 3);
      if (before.length < 6 || after.length < 3) {
        continue;
      }
      Path mount = below(root, unescaped(before[4]));
      if (after[0].equals("cgroup2")) {
        v2 = upwards(mount, within(paths.getOrDefault("", "/"), before[3]));
      } else if (after[0].equals("cgroup")) {
        for (String controller : after[2].split(",", -1)) {
          if (paths.containsKey(controller)) {
            v1.put(controller, upwards(mount, within(paths.get(controller), before[3])));
          }
        }
      }
    }
    return new CgroupPlace(v1, v2);
  }

  /** Returns the configured place below which tasks get their groups. */
  static CgroupPlace of(Cgroups configured) {
    Map<String, List<Path>> v1 = new HashMap<>();
    for (String controller : configured.subsystems()) {
      Path mount = Path.of(configured.root()).resolve(controller);
      v1.put(controller, upwards(mount, configured.slice()));
    }
    return new CgroupPlace(v1, List.of());
  }

  private static Path below(Path root, String absolute) {
    return root.resolve(absolute.startsWith("/") ? absolute.substring(1) : absolute);
  }

  /**
   * Converts a path of the host's tree. In a container the mount shows a part of that tree, and
   * paths may begin above it.
   */
  private static String within(String path, String mountRoot) {
    if (!mountRoot.equals("/") && (path + "/").startsWith(mountRoot + "/")) {
      return path.substring(mountRoot.length());
    }
    return path;
  }

  private static List<Path> upwards(Path mount, String path) {
    List<Path> groups = new ArrayList<>();
    Path group = mount;
    groups.add(group);
    for (String name : path.split("/", -1)) {
      if (name.equals("..") || (!name.isEmpty() && !Files.isDirectory(group.resolve(name)))) {
        break;
      }
      if (!name.isEmpty()) {
        group = group.resolve(name);
        groups.add(0, group);
      }
    }
    return List.copyOf(groups);
  }

  /** Decodes blanks, which are written as three octal digits. */
  private static String unescaped(String text) {
    return text.replace("\\040", " ").replace("\\011", "\t").replace("\\134", "\\");
  }

  private static List<String> lines(Path file) {
    try {
      return KernelFiles.text(file).lines().toList();
    } catch (IOException e) {
      return List.of();
    }
  }
}
