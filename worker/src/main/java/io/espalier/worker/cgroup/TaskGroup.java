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
 * The control groups of one task: a directory in each hierarchy that is in use for it. What it is
 * asked is read from the kernel at that moment; after {@link #remove} it knows nothing and is
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

  /** What one step of killing came to. */
  public enum Killing {
    /** All that were in it when the step began have got their KILL. */
    DONE,
    /** They are being stopped first, so that none escapes: take another step soon. */
    FREEZING,
    /** Nothing here can kill safely, and it is not allowed to kill unsafely. */
    IMPOSSIBLE
  }

  /**
   * Groups that exist already, made by an earlier process; those that are gone are left out.
   *
   * @param paths of directories of task groups
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

  /** Where it is, for the journal and for people. */
  public List<Path> paths() {
    return directories.stream().map(CgroupDirectory::path).toList();
  }

  /** Files into which a process writes 0 to join, before it becomes the task. */
  public List<Path> joinFiles() {
    return directories.stream().map(CgroupDirectory::procs).toList();
  }

  /** What all its processes have used since it was made, also those that are gone. */
  public ResourceUsage usage() {
    return new ResourceUsage(
        first(CgroupDirectory::cpuMillis),
        first(CgroupDirectory::peakMemoryBytes),
        first(CgroupDirectory::readBytes),
        first(CgroupDirectory::writtenBytes));
  }

  /** Bytes of memory now; {@link ResourceUsage#UNKNOWN_AMOUNT} when its memory is not counted. */
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
   * All its processes.
   *
   * @throws IOException when one of its directories is there and cannot be read
   */
  public Set<Long> pids() throws IOException {
    Set<Long> pids = new TreeSet<>();
    for (CgroupDirectory directory : directories) {
      pids.addAll(directory.pids());
    }
    return pids;
  }

  /** Whether it is certain that no process is left in any of its directories. */
  public boolean isEmpty() {
    return directories.stream().allMatch(CgroupDirectory::isEmpty);
  }

  /** Whether the kernel has killed one of its processes for want of memory. */
  public boolean wasOutOfMemory() {
    return directories.stream().anyMatch(d -> d.outOfMemoryKills() > 0);
  }

  /** Whether {@link #kill} can do anything at all. */
  public boolean canKill() {
    return killWithoutFreezer || directories.stream().anyMatch(CgroupDirectory::canKill);
  }

  /**
   * One step towards the death of all members. {@code cgroup.kill} of version 2 reaches them all in
   * one step, forks that are under way included; so does a freezer, which may need several steps;
   * without either a process that forks faster than it is killed may escape one step, and is found
   * by the next.
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

  /** Gives up a freeze that takes too long (some process hangs in the kernel). */
  public void thaw() throws IOException {
    for (CgroupDirectory directory : directories) {
      if (directory.canKill()) {
        directory.thaw();
        return;
      }
    }
  }

  /** A mistake in a configuration must not make us kill ourselves. */
  private static Set<Long> others(Collection<Long> pids) {
    Set<Long> others = new TreeSet<>(pids);
    others.remove(SELF);
    others.remove(1L);
    return others;
  }

  /**
   * Removes the directories and what tasks have made below them, as far as they are empty.
   *
   * @return what could not be removed, with the cause; empty when nothing is left
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
