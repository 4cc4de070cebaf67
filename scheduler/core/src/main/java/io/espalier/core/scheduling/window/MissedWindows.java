package io.espalier.core.scheduling.window;

import io.espalier.core.api.view.TaskCounts;
import io.espalier.core.config.Job;
import io.espalier.core.scheduling.SchedulingCore;
import io.espalier.core.scheduling.query.SubtreeCountScan;
import io.espalier.core.topology.Topology;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Finds windows of nodes that closed although tasks of a job are left there, none of which started
 * in them. A bit for each job and node of a level with windows says where a task has started. The
 * tasks that are left are counted in slices. For one thread.
 */
final class MissedWindows {
  private static final int UNITS_PER_NODE = 4;

  private final SchedulingCore core;

  /** By job: the nodes below which tasks have started since their windows opened. */
  private Map<String, BitSet> started = new HashMap<>();

  /** The same with the numbers of the nodes that come. */
  private Map<String, BitSet> renumbered = new HashMap<>();

  /** Whose numbers those in {@link #started} are. */
  private @Nullable Topology numbers;

  /** The levels that have nodes with windows. */
  private final BitSet levels = new BitSet();

  // What is being counted: windows that have closed, in this order.
  private final Set<WindowGroup> closed = new LinkedHashSet<>();
  private @Nullable SubtreeCountScan scan;
  private boolean isScanning;
  private int at;
  private Map<String, Sum> ofGroup = new LinkedHashMap<>();

  /** By level: the nodes whose windows have closed, and what was missed by job. */
  private final Map<Integer, OfLevel> sums = new LinkedHashMap<>();

  private record Sum(int nodes, long left) {
    Sum plus(Sum other) {
      return new Sum(nodes + other.nodes, left + other.left);
    }
  }

  private static final class OfLevel {
    int nodes;
    final Map<String, Sum> byJob = new LinkedHashMap<>();
  }

  MissedWindows(SchedulingCore core) {
    this.core = core;
  }

  /** Begins with other nodes or windows; {@link #grouped} ends that. */
  void begin() {
    closed.clear();
    scan = null;
    restart();
    renumbered = new HashMap<>();
    levels.clear();
  }

  private void restart() {
    isScanning = false;
    at = 0;
    ofGroup = new LinkedHashMap<>();
  }

  /** Nodes of a level have windows. */
  void hasWindows(int level) {
    levels.set(level);
  }

  /** Takes over what has started on a node in a window that is not counted yet. */
  void carry(Topology nodes, int level, int node) {
    if (numbers == null || started.isEmpty()) {
      return;
    }
    int before = numbers.find(level, nodes.name(node));
    if (before >= 0) {
      started.forEach(
          (job, bits) -> {
            if (bits.get(before)) {
              renumbered.computeIfAbsent(job, name -> new BitSet()).set(node);
            }
          });
    }
  }

  /** All nodes were carried over that are to be. */
  void grouped(Topology nodes) {
    numbers = nodes;
    started = renumbered;
    renumbered = new HashMap<>();
  }

  /** Notes that a task is placed. */
  void placed(String job, String node) {
    int number = levels.isEmpty() ? -1 : core.findJob(job);
    int place = number < 0 ? -1 : core.findNode(number, node);
    if (place >= 0) {
      mark(started.computeIfAbsent(job, name -> new BitSet()), place);
    }
  }

  private void mark(BitSet bits, int node) {
    Topology nodes = core.topology();
    if (levels.get(nodes.level(node))) {
      bits.set(node);
    }
    for (int i = 0; i < nodes.slotCount(node); i++) {
      int parent = nodes.parent(nodes.slot(node, i));
      if (parent >= 0) {
        mark(bits, parent);
      }
    }
  }

  /** Notes that the windows of a group have closed that were seen to open. */
  void closed(WindowGroup group) {
    closed.add(group);
  }

  /** Forgets what has started in a window that has closed. */
  void forget(WindowGroup group) {
    started.values().forEach(bits -> group.nodes.forEach(bits::clear));
    started.values().removeIf(BitSet::isEmpty);
  }

  /** Returns whether {@link #step} has something left to do. */
  boolean isBehind() {
    return !closed.isEmpty();
  }

  /**
   * Counts a slice.
   *
   * @param units about how many items to visit
   * @return what was missed in all windows that have closed, when the last one was counted
   */
  List<MissedWindow> step(int units) {
    for (int left = units; left > 0 && !closed.isEmpty(); ) {
      WindowGroup group = closed.iterator().next();
      if (at == group.nodes.size()) {
        end(group);
      } else {
        left -= UNITS_PER_NODE + step(group.nodes.get(at), left);
      }
    }
    return closed.isEmpty() && !sums.isEmpty() ? take() : List.of();
  }

  private int step(int node, int units) {
    SubtreeCountScan current = scan;
    if (current == null || current.isStale()) {
      current = core.tasks().counts(-1, true);
      scan = current;
      isScanning = false;
    }
    if (!isScanning) {
      current.begin(core.topology().slot(node, 0));
      isScanning = true;
    }
    int used = current.step(units);
    if (current.isDone()) {
      current.countsByJob().forEach((job, counts) -> count(job, counts, node));
      isScanning = false;
      at++;
      used += core.jobCount();
    }
    return used;
  }

  private void count(String name, TaskCounts counts, int node) {
    Job job = core.config().job(name);
    BitSet bits = started.get(name);
    long left = counts.waiting() + counts.ready() + counts.blocked();
    if (left > 0 && job != null && job.enabled() && (bits == null || !bits.get(node))) {
      ofGroup.merge(name, new Sum(1, left), Sum::plus);
    }
  }

  private void end(WindowGroup group) {
    forget(group);
    OfLevel level = sums.computeIfAbsent(group.key.level(), number -> new OfLevel());
    level.nodes += group.nodes.size();
    ofGroup.forEach((job, sum) -> level.byJob.merge(job, sum, Sum::plus));
    group.isWatched = !group.isClosed;
    closed.remove(group);
    restart();
  }

  private List<MissedWindow> take() {
    List<MissedWindow> all = new ArrayList<>();
    sums.forEach(
        (level, of) ->
            of.byJob.forEach(
                (job, sum) ->
                    all.add(
                        new MissedWindow(
                            job,
                            core.topology().levels().name(level),
                            sum.nodes(),
                            of.nodes,
                            sum.left()))));
    sums.clear();
    return all;
  }
}
