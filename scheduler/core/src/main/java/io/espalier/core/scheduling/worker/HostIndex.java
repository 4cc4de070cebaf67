package io.espalier.core.scheduling.worker;

import io.espalier.core.scheduling.index.NodeCondition;
import io.espalier.core.scheduling.index.StartableIndex;
import io.espalier.core.scheduling.job.JobTable;
import io.espalier.core.topology.Topology;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The hosts of the workers, and which jobs that must run on the host of a node of theirs ({@code
 * level_for_host_placement}) find room there: looked up by node. That makes the worker condition a
 * part of {@code open(j, n)} at the placement level
 * (docs/design/design.md#jobs-that-are-placed-on-hosts). Hosts are numbered; numbers are used
 * again.
 */
public final class HostIndex implements NodeCondition {
  private final Topology topology;
  private final int words;

  /** By level: bits of the jobs that are placed by it; null: none. */
  private final long[] @Nullable [] placedAt;

  /** By placing level and node: the host of that name, or -1. */
  private final int[] @Nullable [] hostOfNode;

  private final Map<String, Integer> numbers = new HashMap<>();
  private @Nullable String[] names = new @Nullable String[0];
  private int[] uses = new int[0];
  private int[] next = new int[0];

  /** Per host and level: the node of a placing level that names it, or -1. */
  private int[] nodes = new int[0];

  private int firstFree = -1;
  private int high;

  /** Per host: bits of the jobs that fit on some worker of it. */
  private long[] fit = new long[0];

  /**
   * @param placementLevel by job: the level whose nodes name its hosts, or -1
   */
  public HostIndex(Topology topology, JobTable jobs, int[] placementLevel) {
    this.topology = topology;
    words = jobs.words;
    int levels = topology.levels().count();
    placedAt = new long[levels][];
    hostOfNode = new int[levels][];
    for (int job = 0; job < placementLevel.length; job++) {
      int level = placementLevel[job];
      if (level >= 0) {
        long[] bits = placedAt[level];
        if (bits == null) {
          bits = new long[words];
          placedAt[level] = bits;
          int[] hosts = new int[topology.levelEnd(level) - topology.levelStart(level)];
          Arrays.fill(hosts, -1);
          hostOfNode[level] = hosts;
        }
        bits[job >>> 6] |= 1L << job;
      }
    }
  }

  /** Whether any job is placed by the host of a node. */
  public boolean placesAny() {
    return Arrays.stream(placedAt).anyMatch(Objects::nonNull);
  }

  /**
   * Bits of the jobs that the node, as a host, lets start: all that are not placed by its level.
   */
  @Override
  public long mask(int node, int level, int word) {
    long[] placed = placedAt[level];
    if (placed == null) {
      return -1L;
    }
    int host = ofNode(node, level);
    return ~placed[word] | (host < 0 ? 0 : fit[host * words + word]);
  }

  /** The host that a node of a placing level names, or -1. */
  int ofNode(int node, int level) {
    int[] hosts = hostOfNode[level];
    return hosts == null ? -1 : hosts[node - topology.levelStart(level)];
  }

  /** All numbers are below. */
  public int high() {
    return high;
  }

  /** The number of a host, or -1. */
  int find(String name) {
    return numbers.getOrDefault(name, -1);
  }

  public String name(int host) {
    String name = names[host];
    return name == null ? "" : name;
  }

  /** The number of a host, which is kept until it is released as often. */
  int use(String name) {
    Integer known = numbers.get(name);
    int host = known == null ? create(name) : known;
    uses[host]++;
    return host;
  }

  private int create(String name) {
    int host = firstFree;
    if (host >= 0) {
      firstFree = next[host];
    } else {
      host = high++;
      if (host == uses.length) {
        int size = Math.max(16, host * 2);
        names = Arrays.copyOf(names, size);
        uses = Arrays.copyOf(uses, size);
        next = Arrays.copyOf(next, size);
        fit = Arrays.copyOf(fit, size * words);
        nodes = Arrays.copyOf(nodes, size * placedAt.length);
      }
    }
    numbers.put(name, host);
    names[host] = name;
    setNodes(name, host);
    return host;
  }

  /** Nothing fits on it any more. */
  void release(int host) {
    if (--uses[host] == 0) {
      String name = name(host);
      setNodes(name, -1);
      numbers.remove(name);
      names[host] = null;
      next[host] = firstFree;
      firstFree = host;
    }
  }

  private void setNodes(String name, int host) {
    for (int level = 0; level < hostOfNode.length; level++) {
      int[] hosts = hostOfNode[level];
      int node = hosts == null ? -1 : topology.find(level, name);
      if (hosts != null && node >= 0) {
        hosts[node - topology.levelStart(level)] = host;
      }
      if (host >= 0) {
        nodes[host * placedAt.length + level] = node;
      }
    }
  }

  public boolean fits(int host, int job) {
    return (fit[host * words + (job >>> 6)] & 1L << job) != 0;
  }

  /**
   * Other jobs fit on a host than before.
   *
   * @param changed bits of the jobs for which that changed
   */
  void flip(int host, long[] changed, StartableIndex index) {
    for (int w = 0; w < words; w++) {
      fit[host * words + w] ^= changed[w];
    }
    for (int level = 0; level < placedAt.length; level++) {
      long[] placed = placedAt[level];
      int node = placed == null ? -1 : nodes[host * placedAt.length + level];
      for (int w = 0; placed != null && node >= 0 && w < words; w++) {
        if ((placed[w] & changed[w]) != 0) {
          index.refresh(node, level, w);
        }
      }
    }
  }
}
