package io.espalier.worker.cgroup;

import io.espalier.core.config.task.CgroupLimits;
import io.espalier.core.config.task.SubprocessOptions.Cgroups;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Creates the control groups of tasks, either where a job's {@code cgroups} say or where this host
 * permits. Not thread-safe.
 */
public final class CgroupFactory implements AutoCloseable {
  /** The directory below our own group that contains the groups of tasks. */
  static final String PARENT = "espalier";

  private static final Logger log = LoggerFactory.getLogger(CgroupFactory.class);

  private final List<Parent> parents;
  private final List<String> problems;
  private final boolean strict;
  private final boolean killWithoutFreezer;

  /** A directory in which task directories are created. */
  private record Parent(Path directory, Set<String> controllers) {}

  /**
   * A created group.
   *
   * @param unmet requested limits that are not in force, each with the cause
   */
  public record Made(TaskGroup group, List<String> unmet) {
    public Made {
      unmet = List.copyOf(unmet);
    }
  }

  private CgroupFactory(
      List<Parent> parents, List<String> problems, boolean strict, boolean killWithoutFreezer) {
    this.parents = List.copyOf(parents);
    this.problems = List.copyOf(problems);
    this.strict = strict;
    this.killWithoutFreezer = killWithoutFreezer;
  }

  /**
   * Creates groups at the configured paths, as Bistro does (docs/design/bistro.md#control-groups):
   * {@code root/subsystem/slice} for each subsystem, which must exist. If the root is a hierarchy
   * of version 2, {@code root/slice} serves all subsystems; without a root, each subsystem is used
   * where the host has mounted it.
   */
  public static CgroupFactory configured(Cgroups options, CgroupHost host) {
    Map<Path, Set<String>> directories = new LinkedHashMap<>();
    List<String> problems = new ArrayList<>();
    String slice = options.slice().replaceAll("^/+", "");
    for (String subsystem : options.subsystems()) {
      Path directory;
      if (options.root().isEmpty()) {
        Optional<CgroupHost.Hierarchy> hierarchy =
            host.of(subsystem).or(() -> second(host, subsystem));
        if (hierarchy.isEmpty()) {
          problems.add("no control group hierarchy of this host has \"" + subsystem + "\"");
          continue;
        }
        directory = hierarchy.get().mount().resolve(slice);
      } else {
        Path root = Path.of(options.root());
        directory =
            CgroupDirectory.isSecondVersion(root)
                ? root.resolve(slice)
                : root.resolve(subsystem).resolve(slice);
      }
      if (!Files.isDirectory(directory)) {
        problems.add("there is no directory " + directory);
        continue;
      }
      directories.computeIfAbsent(directory, d -> new LinkedHashSet<>()).add(subsystem);
    }
    List<Parent> parents = new ArrayList<>();
    directories.forEach(
        (directory, subsystems) -> {
          boolean second = CgroupDirectory.isSecondVersion(directory);
          Set<String> controllers = new LinkedHashSet<>();
          for (String subsystem : subsystems) {
            controllers.addAll(List.of((second ? inSecond(subsystem) : subsystem).split(",", -1)));
          }
          if (second) {
            controllers.retainAll(Set.of("memory", "cpu", "pids", "io", "cpuset", "hugetlb"));
            Delegation.enable(directory, controllers).forEach((name, cause) -> problems.add(cause));
          }
          parents.add(new Parent(directory, controllers));
        });
    return new CgroupFactory(parents, problems, true, options.killWithoutFreezer());
  }

  private static Optional<CgroupHost.Hierarchy> second(CgroupHost host, String subsystem) {
    // Version 2 can always freeze and always counts CPU time.
    return subsystem.equals("freezer") || subsystem.equals("cpuacct")
        ? host.unified()
        : host.of(inSecond(subsystem));
  }

  private static String inSecond(String subsystem) {
    return switch (subsystem) {
      case "blkio" -> "io";
      case "cpuacct" -> "cpu";
      default -> subsystem;
    };
  }

  /**
   * Creates groups where this host permits: in directories {@code espalier} below our own group in
   * every hierarchy that can limit, count or kill. It creates these directories. With version 2 it
   * may have to move this process into a separate group beside them, because a group with processes
   * cannot delegate controllers.
   */
  public static CgroupFactory automatic(CgroupHost host) {
    List<Parent> parents = new ArrayList<>();
    List<String> problems = new ArrayList<>();
    Set<String> taken = new LinkedHashSet<>();
    for (CgroupHost.Hierarchy hierarchy : host.hierarchies()) {
      Set<String> useful = new LinkedHashSet<>(hierarchy.controllers());
      useful.retainAll(
          hierarchy.version() == 1
              ? Set.of("memory", "cpu", "cpuacct", "pids", "blkio", "freezer")
              : Set.of("memory", "cpu", "pids", "io"));
      if (hierarchy.version() == 1 && useful.isEmpty()) {
        continue;
      }
      Path directory = hierarchy.own().resolve(PARENT);
      try {
        if (!Files.isDirectory(directory)) {
          Files.createDirectory(directory);
        }
        if (!Files.isWritable(directory)) {
          throw new IOException("it is not writable");
        }
      } catch (IOException e) {
        problems.add("cannot use " + directory + ": " + CgroupFiles.reason(e));
        continue;
      }
      if (hierarchy.version() == 2) {
        Map<String, String> failed = Delegation.hand(hierarchy.own(), directory, useful);
        problems.addAll(new LinkedHashSet<>(failed.values()));
        useful.removeAll(failed.keySet());
      }
      useful.removeAll(taken);
      taken.addAll(useful);
      parents.add(new Parent(directory, useful));
    }
    return new CgroupFactory(parents, problems, false, true);
  }

  /** Returns whether no limit can be set here. */
  public boolean isEmpty() {
    return parents.stream()
        .noneMatch(
            parent -> {
              int version = CgroupDirectory.isSecondVersion(parent.directory()) ? 2 : 1;
              return EnumSet.allOf(CgroupLimit.class).stream()
                  .anyMatch(limit -> parent.controllers().contains(limit.controller(version)));
            });
  }

  /** Returns what was looked for and cannot be used, with the causes. */
  public List<String> problems() {
    return problems;
  }

  /**
   * Returns whether tasks that outlive their own process are killed at once, as Bistro's freezer
   * does.
   */
  public boolean killsStrays() {
    return strict
        && (killWithoutFreezer
            || parents.stream()
                .anyMatch(
                    p ->
                        p.controllers().contains("freezer")
                            || CgroupDirectory.isSecondVersion(p.directory())));
  }

  /** Removes the parent directories that {@link #automatic} created, unless they are in use. */
  @Override
  public void close() {
    if (!strict) {
      for (Parent parent : parents) {
        try {
          Files.deleteIfExists(parent.directory());
        } catch (IOException e) {
          log.debug("another worker has tasks there: {}", parent.directory(), e);
        }
      }
    }
  }

  /**
   * Creates the groups of one task and sets its limits.
   *
   * @param name name of the directories, without slashes
   * @throws IOException listing every problem; no created directory is left then
   */
  public Made create(String name, CgroupLimits limits) throws IOException {
    List<String> wrong = new ArrayList<>();
    if (strict) {
      wrong.addAll(problems);
    }
    Set<CgroupLimit> asked = CgroupLimit.of(limits);
    List<CgroupDirectory> made = new ArrayList<>();
    for (Parent parent : parents) {
      if (!strict && !isNeeded(parent, asked)) {
        continue;
      }
      CgroupDirectory directory =
          CgroupDirectory.in(parent.directory(), name, parent.controllers());
      try {
        Files.createDirectory(directory.path());
        made.add(directory);
        directory.setUp();
        if (!Files.isWritable(directory.procs())) {
          wrong.add("cannot write to " + directory.procs());
        }
      } catch (FileAlreadyExistsException e) {
        wrong.add(directory.path() + " exists already");
      } catch (IOException e) {
        wrong.add(notMade(directory.path(), e));
      }
    }
    List<String> unmet = new ArrayList<>();
    for (CgroupLimit limit : asked) {
      String cause = set(limit, limits, made, wrong);
      if (cause != null) {
        unmet.add(limit.label() + ": " + cause);
      }
    }
    TaskGroup group = new TaskGroup(made, killWithoutFreezer);
    if (!wrong.isEmpty()) {
      List<String> unused = group.remove();
      wrong.addAll(unused);
      throw new IOException("control groups: " + String.join("; ", wrong));
    }
    return new Made(group, unmet);
  }

  private static String notMade(Path path, IOException e) {
    String within =
        e instanceof FileSystemException f
                && f.getFile() != null
                && !f.getFile().equals(path.toString())
            ? f.getFile() + ": "
            : "";
    return "cannot make the control group " + path + ": " + within + CgroupFiles.reason(e);
  }

  /**
   * Each membership has a cost, so a task joins only the groups that limit it, count its CPU time
   * or memory, and one that can kill it.
   */
  private boolean isNeeded(Parent parent, Set<CgroupLimit> asked) {
    boolean second = CgroupDirectory.isSecondVersion(parent.directory());
    if (second) {
      return true;
    }
    Set<String> controllers = parent.controllers();
    return controllers.contains("memory")
        || controllers.contains("cpuacct")
        || asked.stream().anyMatch(limit -> controllers.contains(limit.controller(1)))
        || (controllers.contains("freezer")
            && parents.stream().noneMatch(p -> Files.exists(p.directory().resolve("cgroup.kill"))));
  }

  private @Nullable String set(
      CgroupLimit limit, CgroupLimits limits, List<CgroupDirectory> made, List<String> wrong) {
    for (CgroupDirectory directory : made) {
      if (directory.has(limit.controller(directory.version()))) {
        try {
          directory.set(limit, limits);
          return null;
        } catch (IOException e) {
          String cause =
              e instanceof FileSystemException f
                  ? "cannot write " + f.getFile() + ": " + CgroupFiles.reason(e)
                  : String.valueOf(e.getMessage());
          if (strict && !(e instanceof NoSuchFileException)) {
            wrong.add(cause);
          }
          return cause;
        }
      }
    }
    return "no control group of this task has the controller \"" + limit.controller(1) + "\"";
  }
}
