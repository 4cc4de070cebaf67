package io.espalier.worker.cgroup;

import io.espalier.core.config.CgroupLimits;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * A task's directory in one hierarchy: the driver of one version of control groups. Amounts are -1
 * where this directory does not know them.
 */
abstract class CgroupDirectory {
  private final Path path;
  private final Set<String> controllers;

  CgroupDirectory(Path path, Set<String> controllers) {
    this.path = path;
    this.controllers = Set.copyOf(controllers);
  }

  /** The driver for a directory that exists, or will be made in {@code parent}. */
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

  Set<String> controllers() {
    return controllers;
  }

  abstract int version();

  /** After it was made, before anybody joins. */
  abstract void setUp() throws IOException;

  /**
   * Sets one limit and reads it back.
   *
   * @throws IOException when it cannot be set, or is not what was asked for afterwards
   */
  abstract void set(CgroupLimit limit, CgroupLimits limits) throws IOException;

  /** Whether it is certain that nothing is in it or below it. */
  abstract boolean isEmpty();

  /** Members, those of groups below it included. */
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

  /** How many processes the kernel has killed because the group was over its memory. */
  abstract long outOfMemoryKills();

  /** Whether it can stop all members from escaping while they are killed. */
  abstract boolean canKill();

  /** Kills all at once if it can do so by itself. */
  abstract boolean killAtOnce() throws IOException;

  /** Begins to freeze, or goes on; whether all are frozen. */
  abstract boolean freeze() throws IOException;

  abstract void thaw() throws IOException;

  static void require(boolean holds, Path file, String wanted, String found) throws IOException {
    if (!holds) {
      throw new IOException(file + " is " + found + " after " + wanted + " was written to it");
    }
  }

  /** Writes a number and reads it back; the kernel may round. */
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
