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
 * A condition on nodes for jobs that must run on the host of a node ({@code
 * level_for_host_placement}): the node's host must have a fitting worker. It makes the worker
 * condition a part of {@code open(j, n)} at the placement level
 * (docs/design/design.md#jobs-that-are-placed-on-hosts). Hosts are numbered; numbers are reused.
 */
public final class HostIndex implements NodeCondition {
  private final Topology topology;
  private final int words;

  /** By level: the bits of the jobs that are placed by it; null: none. */
  private final long[] @Nullable [] placedAt;

  /** By placement level and node: the host of that name, or -1. */
  private final int[] @Nullable [] hostOfNode;

  private final Map<String, Integer> numbers = new HashMap<>();
  private @Nullable String[] names = new @Nullable String[0];
  private int[] uses = new int[0];
  private int[] next = new int[0];

  /** By host and level: the node of a placement level that names the host, or -1. */
  private int[] nodes = new int[0];

  private int firstFree = -1;
  private int high;

  /** By host: the bits of the jobs that fit on any worker of the host. */
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

  /** Returns whether any job is placed by the host of a node. */
  public boolean placesAny() {
    return Arrays.stream(placedAt).anyMatch(Objects::nonNull);
  }

  /**
   * Returns the bits of the jobs that may start at a node: those not placed by its level, and those
   * that fit on a worker of its host.
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

  /** Returns the host that a node of a placement level names, or -1. */
  int ofNode(int node, int level) {
    int[] hosts = hostOfNode[level];
    return hosts == null ? -1 : hosts[node - topology.levelStart(level)];
  }

  /** Returns the exclusive upper bound of the numbers. */
  public int high() {
    return high;
  }

  /** Returns the number of a host, or -1. */
  int find(String name) {
    return numbers.getOrDefault(name, -1);
  }

  public String name(int host) {
    String name = names[host];
    return name == null ? "" : name;
  }

  /** Returns the number of a host; it is kept until {@link #release} is called as often. */
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

  /** Undoes one {@link #use}. When it is the last one, no job may fit on the host any more. */
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
   * Flips the jobs that have started or ceased to fit on a host.
   *
   * @param changed the bits of these jobs
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
