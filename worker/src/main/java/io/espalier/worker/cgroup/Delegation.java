package io.espalier.worker.cgroup;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * Delegates controllers of version 2 to the groups of tasks. A group other than the root cannot
 * have both processes and controllers for the groups below it, so a worker that a service manager
 * has put into its own group must move into a group below that one.
 */
final class Delegation {
  /** The group that our own processes move into. */
  static final String SUPERVISOR = "espalier-supervisor";

  private Delegation() {}

  /**
   * Makes controllers available in {@code parent} for the groups below it.
   *
   * @return the controllers that are not available there, each with the cause
   */
  static Map<String, String> enable(Path parent, Set<String> controllers) {
    Map<String, String> failed = new LinkedHashMap<>();
    for (String controller : controllers) {
      try {
        enable(parent, controller);
      } catch (IOException e) {
        failed.put(controller, cause(controller, parent, e));
      }
    }
    return failed;
  }

  /**
   * Makes controllers available in a group below our own. While this process is in its own group,
   * it first moves out: the kernel lets a group with processes enable controllers such as cpu and
   * pids, but that makes the group a thread root, and no process can join the groups below it any
   * more.
   *
   * @param own the group of this process
   * @param parent a child of it
   */
  static Map<String, String> hand(Path own, Path parent, Set<String> controllers) {
    if (controllers.isEmpty()) {
      return Map.of();
    }
    if (!isRoot(own)) {
      try {
        stepAside(own);
      } catch (IOException e) {
        Map<String, String> none = new LinkedHashMap<>();
        controllers.forEach(controller -> none.put(controller, cause(controller, own, e)));
        return none;
      }
    }
    Map<String, String> failed = enable(own, controllers);
    Set<String> handed = new TreeSet<>(controllers);
    handed.removeAll(failed.keySet());
    Map<String, String> all = new LinkedHashMap<>(failed);
    all.putAll(enable(parent, handed));
    return all;
  }

  /**
   * Returns whether the group is the root, the only group without a type file. Only the root may
   * have both processes and controllers for groups below it.
   */
  private static boolean isRoot(Path group) {
    return !Files.exists(group.resolve("cgroup.type"));
  }

  private static void enable(Path group, String controller) throws IOException {
    Path file = group.resolve("cgroup.subtree_control");
    if (words(CgroupFiles.read(file)).contains(controller)) {
      return;
    }
    if (!words(CgroupFiles.read(group.resolve("cgroup.controllers"))).contains(controller)) {
      throw new IOException("its parent does not hand it down");
    }
    CgroupFiles.write(file, "+" + controller);
  }

  private static Set<String> words(String text) {
    return new TreeSet<>(List.of(text.split("\\s+")));
  }

  private static String cause(String controller, Path parent, IOException e) {
    return "controller \"" + controller + "\" in " + parent + ": " + CgroupFiles.reason(e);
  }

  /**
   * Moves our processes out of the group, but only if all its members are ours: foreign processes
   * are not moved.
   */
  private static void stepAside(Path own) throws IOException {
    Set<Long> ours =
        ProcessHandle.current().descendants().map(ProcessHandle::pid).collect(Collectors.toSet());
    ours.add(ProcessHandle.current().pid());
    List<Long> members = CgroupFiles.pids(own.resolve("cgroup.procs"));
    if (!ours.containsAll(members)) {
      throw new IOException("other processes than ours are in " + own);
    }
    if (members.isEmpty()) {
      return;
    }
    Path aside = own.resolve(SUPERVISOR);
    if (!Files.isDirectory(aside)) {
      Files.createDirectory(aside);
    }
    // A process forked meanwhile starts in the group of its parent.
    while (!members.isEmpty()) {
      for (long pid : members) {
        try {
          CgroupFiles.write(aside.resolve("cgroup.procs"), Long.toString(pid));
        } catch (IOException e) {
          if (Files.exists(Path.of("/proc", Long.toString(pid)))) {
            throw e;
          }
        }
      }
      members = CgroupFiles.pids(own.resolve("cgroup.procs"));
    }
  }
}
