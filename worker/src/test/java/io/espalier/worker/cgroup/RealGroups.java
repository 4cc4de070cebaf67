package io.espalier.worker.cgroup;

import io.espalier.core.config.task.SubprocessOptions.Cgroups;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Assumptions;

/**
 * A slice of this machine's control groups for one test, removed with all that is in it. Where the
 * machine has none that may be written the test is skipped, and says so on stderr.
 */
public final class RealGroups implements AutoCloseable {
  private static final AtomicInteger NEXT = new AtomicInteger();

  private final String root;
  private final String slice;
  private final List<String> subsystems;
  private final Map<String, Path> directories = new LinkedHashMap<>();

  private RealGroups(String root, List<String> subsystems) {
    this.root = root;
    this.slice = "espalier-test-" + ProcessHandle.current().pid() + "-" + NEXT.getAndIncrement();
    this.subsystems = List.copyOf(subsystems);
  }

  /** Directories of version 1, one per controller, below a common root. */
  public static RealGroups first(String... controllers) {
    CgroupHost host = CgroupHost.discover();
    String root = "";
    for (String controller : controllers) {
      Optional<CgroupHost.Hierarchy> found =
          host.of(controller).filter(h -> h.version() == 1 && Files.isWritable(h.mount()));
      skipUnless(found.isPresent(), "version 1 of the control group controller " + controller);
      root = String.valueOf(found.orElseThrow().mount().getParent());
    }
    RealGroups groups = new RealGroups(root, List.of(controllers));
    for (String controller : controllers) {
      groups.make(controller, Path.of(root, controller));
    }
    return groups;
  }

  /** A directory of version 2, without any controller. */
  public static RealGroups second() {
    Optional<CgroupHost.Hierarchy> unified =
        CgroupHost.discover().unified().filter(h -> Files.isWritable(h.own()));
    skipUnless(unified.isPresent(), "a control group hierarchy of version 2");
    Path own = unified.orElseThrow().own();
    RealGroups groups = new RealGroups(own.toString(), List.of("freezer"));
    groups.make("freezer", own);
    return groups;
  }

  /** Skips the test, loudly, unless this holds. */
  public static void skipUnless(boolean holds, String what) {
    if (!holds) {
      System.err.println("SKIPPED: this test needs " + what + ", which we may write");
    }
    Assumptions.assumeTrue(holds, what);
  }

  private void make(String controller, Path parent) {
    try {
      directories.put(controller, Files.createDirectory(parent.resolve(slice)));
    } catch (IOException e) {
      close();
      skipUnless(false, "a group in " + parent + " (" + e + ")");
    }
  }

  /** As a job would ask for them. */
  public Cgroups options() {
    return new Cgroups(root, slice, subsystems, false);
  }

  /** The same with other subsystems. */
  public Cgroups options(boolean killWithoutFreezer, String... others) {
    return new Cgroups(root, slice, List.of(others), killWithoutFreezer);
  }

  /** The slice in the hierarchy of that controller. */
  public Path slice(String controller) {
    Path directory = directories.get(controller);
    if (directory == null) {
      throw new IllegalArgumentException(controller);
    }
    return directory;
  }

  private static List<Path> tree(Path group) {
    try {
      return CgroupFiles.tree(group);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The groups of tasks in it. */
  public List<Path> tasks(String controller) {
    List<Path> found = new ArrayList<>(tree(slice(controller)));
    found.remove(slice(controller));
    return found;
  }

  @Override
  public void close() {
    for (Path directory : directories.values()) {
      for (Path group : tree(directory)) {
        try {
          Files.deleteIfExists(group);
        } catch (IOException e) {
          System.err.println("left behind: " + group + ": " + e);
        }
      }
    }
  }
}
