package io.espalier.worker.cgroup;

import io.espalier.core.config.task.CgroupLimits;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * A task's directory in one hierarchy, driven as one version of control groups. Amounts are -1
 * where this directory does not know them.
 */
abstract class CgroupDirectory {
  private final Path path;
  private final Set<String> controllers;

  CgroupDirectory(Path path, Set<String> controllers) {
    this.path = path;
    this.controllers = Set.copyOf(controllers);
  }

  /** Returns the driver for a directory in {@code parent} that exists or will be created. */
  static CgroupDirectory in(Path parent, String name, Set<String> controllers) {
    Path path = parent.resolve(name);
    return isSecondVersion(parent)
        ? new CgroupV2(path, controllers)
        : new CgroupV1(path, controllers);
  }

  static boolean isSecondVersion(Path group) {
    return Files.exists(group.resolve("cgroup.controllers"));
  }

  Path path() {
    return path;
  }

  Path file(String name) {
    return path.resolve(name);
  }

  Path procs() {
    return file("cgroup.procs");
  }

  boolean has(String controller) {
    return controllers.contains(controller);
  }

  abstract int version();

  /** Sets up the new directory before any process joins it. */
  abstract void setUp() throws IOException;

  /**
   * Sets one limit and reads it back.
   *
   * @throws IOException when it cannot be set, or reads back as another value
   */
  abstract void set(CgroupLimit limit, CgroupLimits limits) throws IOException;

  /** Returns whether it is certain that no process is in the group or below it. */
  abstract boolean isEmpty();

  /** Returns the members, including those of groups below it. */
  final List<Long> pids() throws IOException {
    List<Long> pids = new ArrayList<>();
    for (Path group : CgroupFiles.tree(path)) {
      pids.addAll(CgroupFiles.pids(group.resolve("cgroup.procs")));
    }
    return pids;
  }

  abstract long cpuMillis();

  abstract long memoryBytes();

  abstract long peakMemoryBytes();

  abstract long readBytes();

  abstract long writtenBytes();

  /** Returns how many processes the kernel has killed because the group exceeded its memory. */
  abstract long outOfMemoryKills();

  /** Returns whether the group can keep all members from escaping while they are killed. */
  abstract boolean canKill();

  /** Kills all members at once, if the group supports that; returns whether it did. */
  abstract boolean killAtOnce() throws IOException;

  /** Starts or continues freezing; returns whether all members are frozen. */
  abstract boolean freeze() throws IOException;

  abstract void thaw() throws IOException;

  static void require(boolean holds, Path file, String wanted, String found) throws IOException {
    if (!holds) {
      throw new IOException(file + " is " + found + " after " + wanted + " was written to it");
    }
  }

  /** Writes a number and reads it back, allowing for the rounding of the kernel. */
  static void writeAndVerify(Path file, long value, long tolerance) throws IOException {
    CgroupFiles.write(file, Long.toString(value));
    String found = CgroupFiles.read(file);
    long number;
    try {
      number = Long.parseLong(found);
    } catch (NumberFormatException e) {
      number = Long.MIN_VALUE / 2;
    }
    require(Math.abs(number - value) <= tolerance, file, Long.toString(value), found);
  }
}
