package io.espalier.core.subtree;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.config.Partition;
import io.espalier.core.subtree.SubtreeHandover.Seen;
import io.espalier.core.subtree.SubtreeHandover.Steps;
import io.espalier.core.topology.Division;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Schedulers that hand subtrees over, in a model with random interleavings of all their steps:
 * reading, building trees that come into force late, starts, ends, tags that change, and crashes
 * between any two of them.
 */
class SubtreeHandoverTest {
  private static final List<String> TOPS = List.of("a", "b", "c", "d");

  /** Hangs under both {@code a} and {@code b}. */
  private static final String SHARED = "w";

  private static final int STEPS = 600;
  private static final int SEEDS = 500;

  /** What all schedulers share, and what is true of the tasks. */
  private static final class World {
    final Random random;
    final Map<String, SubtreeRow> rows = new TreeMap<>();

    /** The statuses on their way: tasks that are done, by subtree. */
    final Map<String, Set<String>> transit = new HashMap<>();

    final Map<String, Integer> wanted = new TreeMap<>();
    final List<Scheduler> schedulers = new ArrayList<>();

    /** The tasks that are done, and the scheduler on which each task is live. */
    final Set<String> done = new HashSet<>();

    final Map<String, Scheduler> live = new HashMap<>();
    int handovers;
    int crashes;

    World(long seed, int count) {
      random = new Random(seed);
      TOPS.forEach(top -> wanted.put(top, random.nextInt(count)));
      for (int i = 0; i < count; i++) {
        schedulers.add(new Scheduler(this, new Partition(i, count)));
      }
    }
  }

  private static List<String> below(String top) {
    List<String> tasks = new ArrayList<>(List.of(top + "1", top + "2"));
    if (top.equals("a") || top.equals("b")) {
      tasks.add(SHARED);
    }
    return tasks;
  }

  /** One scheduler: its store, which survives, and its process. */
  private static final class Scheduler {
    final World world;
    final Partition shard;

    /** The tasks that are done by its store. */
    final Set<String> stored = new HashSet<>();

    boolean isUp;
    SubtreeHandover handover;

    /** By subtree, the scheduler that its tags name: the tree in force, the next, and one built. */
    Map<String, Integer> tree = Map.of();

    @Nullable Map<String, Integer> next;
    @Nullable Map<String, Integer> built;

    /** By subtree of the tree, what the store said when it came. */
    final Map<String, Set<String>> known = new HashMap<>();

    Set<String> closed = Set.of();
    Set<String> closing = Set.of();
    Steps steps = new Steps(Map.of(), Map.of(), List.of());

    Scheduler(World world, Partition shard) {
      this.world = world;
      this.shard = shard;
      handover = new SubtreeHandover(shard);
    }

    void up() {
      isUp = true;
      handover = new SubtreeHandover(shard);
      handover.read(world.rows.values());
      tree = Map.of();
      next = null;
      built = null;
      closed = Set.of();
      closing = Set.of();
      steps = new Steps(Map.of(), Map.of(), List.of());
    }

    /** Tasks of a crashed scheduler die with it, or live on and are known to the next process. */
    void crash() {
      isUp = false;
      world.crashes++;
      if (world.random.nextBoolean()) {
        world.live.values().removeIf(at -> at == this);
      }
    }

    void build() {
      Division division = handover.division();
      Map<String, Integer> begun = new TreeMap<>();
      world.wanted.forEach(
          (top, owner) -> {
            if (division.owns(top)) {
              begun.put(top, owner);
            }
          });
      built = begun;
    }

    /** A tree is let pass only by the division of that moment. */
    void publish() {
      Map<String, Integer> found = built;
      built = null;
      if (found != null && found.keySet().stream().allMatch(handover.division()::owns)) {
        next = found;
      }
    }

    void apply() {
      if (next != null) {
        tree = next;
        next = null;
        load();
      }
    }

    void load() {
      known.keySet().retainAll(tree.keySet());
      tree.keySet().forEach(top -> known.computeIfAbsent(top, name -> new HashSet<>(stored)));
    }

    void decide() {
      Set<String> busy = new HashSet<>();
      TOPS.forEach(
          top -> {
            if (below(top).stream().anyMatch(task -> world.live.get(task) == this)) {
              busy.add(top);
            }
          });
      steps = handover.step(new Seen(tree.keySet(), tree, closed, busy, next == null));
      closing = steps.close().keySet();
      closed = Set.copyOf(closing);
    }

    void release() {
      steps.release().forEach(this::release);
      steps = new Steps(steps.close(), Map.of(), steps.take());
    }

    private void release(String top, int to) {
      SubtreeRow row = world.rows.get(top);
      boolean mine = row == null ? shard.owns(top) : row.owner() == shard.index() && row.taken();
      if (mine) {
        Set<String> statuses = new HashSet<>(stored);
        statuses.retainAll(below(top));
        world.transit.put(top, statuses);
        world.rows.put(top, new SubtreeRow(top, to, false));
        world.handovers++;
      }
    }

    void take(boolean completely) {
      for (String top : steps.take()) {
        SubtreeRow row = world.rows.get(top);
        if (row != null && row.owner() == shard.index() && !row.taken()) {
          stored.addAll(world.transit.getOrDefault(top, Set.of()));
          if (completely) {
            world.rows.put(top, new SubtreeRow(top, shard.index(), true));
          }
        }
      }
      steps = new Steps(steps.close(), steps.release(), List.of());
    }

    /** The subtree to which a task belongs: that of the smallest name. */
    private static String topOf(String task) {
      return task.equals(SHARED) ? "a" : task.substring(0, 1);
    }

    void start() {
      for (String top : tree.keySet()) {
        if (closing.contains(top)) {
          continue;
        }
        for (String task : below(top)) {
          // The shared node is in the tree only if the subtree to which it belongs is.
          boolean isHere = tree.containsKey(topOf(task));
          Set<String> seen = known.getOrDefault(topOf(task), Set.of());
          boolean free = !seen.contains(task) && world.live.get(task) != this;
          if (isHere && free && world.random.nextInt(3) == 0) {
            assertThat(world.live).as("%s starts %s", shard, task).doesNotContainKey(task);
            assertThat(world.done).as("%s starts %s", shard, task).doesNotContain(task);
            world.live.put(task, this);
          }
        }
      }
    }

    void end() {
      for (String task : new TreeSet<>(world.live.keySet())) {
        if (world.live.get(task) == this && world.random.nextInt(3) == 0) {
          world.live.remove(task);
          if (world.random.nextInt(4) > 0) {
            world.done.add(task);
            stored.add(task);
            known.values().forEach(seen -> seen.add(task));
          }
        }
      }
    }

    void anything() {
      switch (world.random.nextInt(10)) {
        case 0 -> handover.read(world.rows.values());
        case 1 -> build();
        case 2 -> publish();
        case 3 -> apply();
        case 4, 5 -> decide();
        case 6 -> release();
        case 7 -> take(world.random.nextInt(3) > 0);
        case 8 -> start();
        default -> end();
      }
    }

    void everything() {
      handover.read(world.rows.values());
      end();
      decide();
      release();
      take(true);
      handover.read(world.rows.values());
      build();
      publish();
      apply();
      start();
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {2, 3})
  void noTaskRunsTwiceAndNoDoneTaskIsLost(int count) {
    int handovers = 0;
    int crashes = 0;
    for (long seed = 0; seed < SEEDS; seed++) {
      World world = new World(seed, count);
      for (int i = 0; i < STEPS; i++) {
        Scheduler one = world.schedulers.get(world.random.nextInt(count));
        int what = world.random.nextInt(100);
        if (!one.isUp) {
          if (what < 30) {
            one.up();
          }
        } else if (what < 2) {
          one.crash();
        } else if (what < 6) {
          world.wanted.put(
              TOPS.get(world.random.nextInt(TOPS.size())), world.random.nextInt(count));
        } else {
          one.anything();
        }
      }
      settle(world);
      handovers += world.handovers;
      crashes += world.crashes;
    }
    assertThat(handovers).isGreaterThan(SEEDS);
    assertThat(crashes).isGreaterThan(SEEDS);
  }

  /** Without crashes and changes every subtree gets where its tags say, and every task is done. */
  private static void settle(World world) {
    world.schedulers.stream().filter(one -> !one.isUp).forEach(Scheduler::up);
    for (int i = 0; i < 200; i++) {
      world.schedulers.forEach(Scheduler::everything);
    }
    for (Scheduler one : world.schedulers) {
      world.wanted.forEach(
          (top, owner) ->
              assertThat(one.tree.containsKey(top))
                  .as("%s of %s at %s", top, owner, one.shard)
                  .isEqualTo(owner == one.shard.index()));
    }
    assertThat(world.done).hasSize(2 * TOPS.size() + 1);
  }
}
