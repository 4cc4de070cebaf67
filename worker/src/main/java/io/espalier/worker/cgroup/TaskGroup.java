package io.espalier.worker.cgroup;

import io.espalier.core.running.ResourceUsage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.function.ToLongFunction;

/**
 * The control groups of one task: one directory in each hierarchy that the task uses. Each query
 * reads the kernel's current value; after {@link #remove} all values are unknown and the group is
 * empty. Reading is safe from any thread.
 */
public final class TaskGroup {
  private static final long SELF = ProcessHandle.current().pid();

  private final List<CgroupDirectory> directories;
  private final boolean killWithoutFreezer;

  TaskGroup(List<CgroupDirectory> directories, boolean killWithoutFreezer) {
    this.directories = List.copyOf(directories);
    this.killWithoutFreezer = killWithoutFreezer;
  }

  /** The result of one step of killing. */
  public enum Killing {
    /** Every process that was a member when the step began has received a KILL. */
    DONE,
    /** The members are being frozen first so that none escapes: take another step soon. */
    FREEZING,
    /** The group cannot kill safely, and unsafe killing is not allowed. */
    IMPOSSIBLE
  }

  /**
   * Returns the groups that an earlier process created and that still exist.
   *
   * @param paths directories of task groups
   */
  public static TaskGroup existing(Collection<Path> paths) {
    List<CgroupDirectory> found = new ArrayList<>();
    for (Path path : paths) {
      Path parent = path.getParent();
      if (parent != null && Files.exists(path.resolve("cgroup.procs"))) {
        Set<String> controllers =
            Files.exists(path.resolve("freezer.state")) ? Set.of("freezer") : Set.of();
        found.add(CgroupDirectory.in(parent, path.getFileName().toString(), controllers));
      }
    }
    return new TaskGroup(found, true);
  }

  /** Returns the directories, for the journal and for people. */
  public List<Path> paths() {
    return directories.stream().map(CgroupDirectory::path).toList();
  }

  /** Returns the files into which a process writes 0 to join, before it becomes the task. */
  public List<Path> joinFiles() {
    return directories.stream().map(CgroupDirectory::procs).toList();
  }

  /**
   * Returns what all its processes, including those that have ended, have used since it was
   * created.
   */
  public ResourceUsage usage() {
    return new ResourceUsage(
        first(CgroupDirectory::cpuMillis),
        first(CgroupDirectory::peakMemoryBytes),
        first(CgroupDirectory::readBytes),
        first(CgroupDirectory::writtenBytes));
  }

  /**
   * Returns the bytes of memory in use now; {@link ResourceUsage#UNKNOWN_AMOUNT} when memory is not
   * counted.
   */
  public long memoryBytes() {
    return first(CgroupDirectory::memoryBytes);
  }

  private long first(ToLongFunction<CgroupDirectory> amount) {
    for (CgroupDirectory directory : directories) {
      long value = amount.applyAsLong(directory);
      if (value >= 0) {
        return value;
      }
    }
    return ResourceUsage.UNKNOWN_AMOUNT;
  }

  /**
   * Returns the pids of all its processes.
   *
   * @throws IOException when one of its directories exists and cannot be read
   */
  public Set<Long> pids() throws IOException {
    Set<Long> pids = new TreeSet<>();
    for (CgroupDirectory directory : directories) {
      pids.addAll(directory.pids());
    }
    return pids;
  }

  /** Returns whether it is certain that no process is left in any of its directories. */
  public boolean isEmpty() {
    return directories.stream().allMatch(CgroupDirectory::isEmpty);
  }

  /** Returns whether the kernel has killed one of its processes for lack of memory. */
  public boolean wasOutOfMemory() {
    return directories.stream().anyMatch(d -> d.outOfMemoryKills() > 0);
  }

  /** Returns whether {@link #kill} can have any effect. */
  public boolean canKill() {
    return killWithoutFreezer || directories.stream().anyMatch(CgroupDirectory::canKill);
  }

  /**
   * Takes one step towards killing all members. {@code cgroup.kill} of version 2 reaches them all
   * in one step, including forks under way; a freezer does too, but may need several steps. Without
   * either, a process that forks faster than it is killed may escape one step, and the next step
   * finds it.
   *
   * @param killer sends a KILL to each of the pids
   */
  public Killing kill(Consumer<Collection<Long>> killer) throws IOException {
    for (CgroupDirectory directory : directories) {
      if (directory.version() == 2 && directory.killAtOnce()) {
        return Killing.DONE;
      }
    }
    for (CgroupDirectory directory : directories) {
      if (directory.canKill()) {
        if (!directory.freeze()) {
          return Killing.FREEZING;
        }
        killer.accept(others(directory.pids()));
        directory.thaw();
        return Killing.DONE;
      }
    }
    if (!killWithoutFreezer) {
      return Killing.IMPOSSIBLE;
    }
    killer.accept(others(pids()));
    return Killing.DONE;
  }

  /** Gives up a freeze that takes too long because some process hangs in the kernel. */
  public void thaw() throws IOException {
    for (CgroupDirectory directory : directories) {
      if (directory.canKill()) {
        directory.thaw();
        return;
      }
    }
  }

  /** Excludes this process: a wrong configuration must not make us kill ourselves. */
  private static Set<Long> others(Collection<Long> pids) {
    Set<Long> others = new TreeSet<>(pids);
    others.remove(SELF);
    others.remove(1L);
    return others;
  }

  /**
   * Removes the directories, and those that tasks have created below them, as far as they are
   * empty.
   *
   * @return directories that could not be removed, each with the cause; empty when nothing is left
   */
  public List<String> remove() {
    List<String> problems = new ArrayList<>();
    for (CgroupDirectory directory : directories) {
      try {
        for (Path group : CgroupFiles.tree(directory.path())) {
          remove(group, problems);
        }
      } catch (IOException e) {
        problems.add(directory.path() + ": " + CgroupFiles.reason(e));
      }
    }
    return problems;
  }

  private static void remove(Path group, List<String> problems) {
    try {
      Files.deleteIfExists(group);
    } catch (IOException e) {
      problems.add(group + ": " + CgroupFiles.reason(e));
    }
  }

  @Override
  public String toString() {
    return paths().toString();
  }
}
