package io.espalier.core.subtree;

import io.espalier.core.config.Partition;
import io.espalier.core.topology.Division;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Decides what one scheduler does so that subtrees get to the schedulers to which their tags give
 * them (docs/sharding.md#subtrees-that-move). The steps of a hand-over, each possible only after
 * the one before:
 *
 * <ol>
 *   <li>The owner <em>closes</em> the subtree: nothing starts there by way of its top.
 *   <li>When no task is live there, the owner leaves the subtree <em>out</em> of its tree. Now
 *       nothing can start there, and no status can change.
 *   <li>When the tree without it is in force and still no task is live there, the owner
 *       <em>releases</em> it: statuses and the new owner become durable together.
 *   <li>The new owner stores the statuses, and then <em>takes</em> it.
 *   <li>The new owner has it in its tree.
 * </ol>
 *
 * A crash before the release leaves the subtree with the owner before, a crash after it with nobody
 * until the new owner takes it. Who has left a subtree out never takes it back by itself: it cannot
 * know whether its release succeeds later.
 *
 * <p>Pure; not thread-safe.
 */
public final class SubtreeHandover {
  private final Partition shard;
  private Map<String, SubtreeRow> rows = Map.of();

  /** Left out of the tree by this process, with their next owners, until a row says so too. */
  private final Map<String, Integer> out = new TreeMap<>();

  public SubtreeHandover(Partition shard) {
    this.shard = shard;
  }

  /**
   * What a scheduler sees of itself.
   *
   * @param tops the subtrees of the tree in force
   * @param wanted the scheduler to which tags and hash give them; one without stays where it is
   * @param closed the subtrees that were closed before {@code busy} was seen
   * @param busy subtrees, of the tree or left out of it, with a live task on or below their top
   * @param settled whether no other tree is about to come into force
   */
  public record Seen(
      Set<String> tops,
      Map<String, Integer> wanted,
      Set<String> closed,
      Set<String> busy,
      boolean settled) {}

  /**
   * What is to be done.
   *
   * @param close the subtrees that have to be closed, with their next owners; all others are open
   * @param release subtrees to release, with their next owners
   * @param take subtrees to take
   */
  public record Steps(
      Map<String, Integer> close, Map<String, Integer> release, List<String> take) {}

  /** Notes what all schedulers share. */
  public void read(Collection<SubtreeRow> newest) {
    Map<String, SubtreeRow> byName = new HashMap<>();
    newest.forEach(row -> byName.put(row.name(), row));
    rows = byName;
    out.keySet().removeIf(name -> !has(name));
  }

  /** Returns whether the shared rows say that this scheduler has a subtree. */
  private boolean has(String name) {
    SubtreeRow row = rows.get(name);
    return row == null ? shard.owns(name) : row.owner() == shard.index() && row.taken();
  }

  /** Returns the division by which the tree of this scheduler is to be built. */
  public Division division() {
    Map<String, Integer> moved = new HashMap<>();
    rows.forEach((name, row) -> moved.put(name, row.taken() ? row.owner() : Division.NOBODY));
    out.keySet().forEach(name -> moved.put(name, Division.NOBODY));
    return new Division(shard, moved);
  }

  /** Returns the subtrees that were left out of the tree and are not released, as far as known. */
  public Set<String> out() {
    return new TreeSet<>(out.keySet());
  }

  /** Decides what is to be done next; leaves subtrees out of {@link #division} from now on. */
  public Steps step(Seen seen) {
    Map<String, Integer> close = new TreeMap<>();
    seen.wanted()
        .forEach(
            (name, owner) -> {
              if (owner != shard.index() && has(name)) {
                close.put(name, owner);
              }
            });
    Map<String, Integer> release = new TreeMap<>();
    out.forEach(
        (name, owner) -> {
          if (seen.settled() && !seen.tops().contains(name) && !seen.busy().contains(name)) {
            release.put(name, owner);
          }
        });
    close.forEach(
        (name, owner) -> {
          if (seen.closed().contains(name) && !seen.busy().contains(name)) {
            out.putIfAbsent(name, owner);
          }
        });
    List<String> take =
        rows.values().stream()
            .filter(row -> row.owner() == shard.index() && !row.taken())
            .map(SubtreeRow::name)
            .filter(name -> seen.settled() && !seen.tops().contains(name))
            .sorted()
            .toList();
    return new Steps(close, release, take);
  }
}
