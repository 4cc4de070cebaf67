package io.espalier.core.config;

import java.util.Map;
import java.util.Set;

/**
 * Decides which nodes a job may use (docs/design/bistro.md#filters). Pure functions.
 *
 * <p><b>Order.</b> A node passes a filter when all of these hold: (1) the whitelist is empty or
 * contains its name; (2) there is no whitelist regex or it is found anywhere in the name; (3) the
 * blacklist does not contain the name; (4) the blacklist regex is not found in the name; (5) the
 * name is in the job's fraction; (6) the tag whitelist is empty or shares a tag with the node.
 *
 * <p><b>Fraction.</b> {@link #point} maps job and node to a number in [0, 1); the node passes when
 * it is below the fraction. So a node that passes at 0.25 also passes at 0.5 of the same job,
 * different jobs choose different nodes, 0 passes nothing and 1 everything. The algorithm is part
 * of the public contract and never changes:
 *
 * <ol>
 *   <li>64-bit FNV-1a (offset basis {@code 0xcbf29ce484222325}, prime {@code 0x100000001b3}) over
 *       the UTF-8 bytes of the job's name, one byte {@code 0xff} (which UTF-8 never contains), and
 *       the UTF-8 bytes of the node's name; an unpaired surrogate counts as {@code ?};
 *   <li>the finalizer of SplitMix64: {@code z ^= z >>> 30; z *= 0xbf58476d1ce4e5b9; z ^= z >>> 27;
 *       z *= 0x94d049bb133111eb; z ^= z >>> 31};
 *   <li>the upper 53 bits, divided by 2^53.
 * </ol>
 */
public final class FilterEvaluator {
  private static final long FNV_BASIS = 0xcbf29ce484222325L;
  private static final long FNV_PRIME = 0x100000001b3L;

  private FilterEvaluator() {}

  /** Applies steps 1 to 6 to one node. */
  public static boolean passes(JobFilter filter, String job, String node, Set<String> tags) {
    return passes(filter, job, node, tags, new FilterSteps(1));
  }

  /**
   * Applies steps 1 to 6 to one of many nodes.
   *
   * @param steps step budget of this filter for all nodes; once it is used up no node passes
   */
  public static boolean passes(
      JobFilter filter, String job, String node, Set<String> tags, FilterSteps steps) {
    return passesName(filter, job, node, steps) && passesTags(filter, tags) && !steps.isOver();
  }

  /** Applies steps 1 to 5. */
  private static boolean passesName(JobFilter filter, String job, String name, FilterSteps steps) {
    if (!filter.whitelist().isEmpty() && !filter.whitelist().contains(name)) {
      return false;
    }
    if (filter.whitelistRegex() != null && !steps.finds(filter.whitelistRegex(), name)) {
      return false;
    }
    if (filter.blacklist().contains(name)) {
      return false;
    }
    if (filter.blacklistRegex() != null && steps.finds(filter.blacklistRegex(), name)) {
      return false;
    }
    return filter.fraction() >= 1.0 || point(job, name) < filter.fraction();
  }

  /**
   * Applies steps 1 to 5 to a worker, which has two names: it is in a list, or a regex is found,
   * when that is true for its host or for its shard. The fraction applies to the host. Workers have
   * no tags, but labels.
   */
  public static boolean passesWorker(
      JobFilter filter, String job, String host, String shard, Map<String, String> labels) {
    return passesWorker(filter, job, host, shard, labels, new FilterSteps(1));
  }

  /**
   * The same for one of many workers.
   *
   * @param steps step budget of this filter for all workers; once it is used up no worker passes
   */
  public static boolean passesWorker(
      JobFilter filter,
      String job,
      String host,
      String shard,
      Map<String, String> labels,
      FilterSteps steps) {
    boolean listed =
        filter.whitelist().isEmpty()
            || filter.whitelist().contains(host)
            || filter.whitelist().contains(shard);
    boolean refused = filter.blacklist().contains(host) || filter.blacklist().contains(shard);
    return listed
        && !refused
        && filter.labels().holds(labels)
        && (filter.whitelistRegex() == null
            || steps.finds(filter.whitelistRegex(), host)
            || steps.finds(filter.whitelistRegex(), shard))
        && (filter.blacklistRegex() == null
            || !(steps.finds(filter.blacklistRegex(), host)
                || steps.finds(filter.blacklistRegex(), shard)))
        && !steps.isOver()
        && (filter.fraction() >= 1.0 || point(job, host) < filter.fraction());
  }

  private static boolean passesTags(JobFilter filter, Set<String> tags) {
    if (filter.tagWhitelist().isEmpty()) {
      return true;
    }
    for (String tag : tags) {
      if (filter.tagWhitelist().contains(tag)) {
        return true;
      }
    }
    return false;
  }

  /** The point in [0, 1) that the fraction test assigns to a node for a job. */
  public static double point(String job, String node) {
    long hash = fnv(FNV_BASIS, job);
    hash = fnv(step(hash, 0xff), node);
    return (mixed(hash) >>> 11) * 0x1.0p-53;
  }

  /** Steps 1 and 2 of the fraction for a single name. */
  static long hash(String name) {
    return mixed(fnv(FNV_BASIS, name));
  }

  private static long mixed(long z) {
    z = (z ^ (z >>> 30)) * 0xbf58476d1ce4e5b9L;
    z = (z ^ (z >>> 27)) * 0x94d049bb133111ebL;
    return z ^ (z >>> 31);
  }

  // Encodes to UTF-8 on the fly: this runs once per job and node, where garbage would be costly.
  private static long fnv(long hash, String text) {
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c < 0x80) {
        hash = step(hash, c);
      } else if (c < 0x800) {
        hash = tail(step(hash, 0xc0 | (c >> 6)), c);
      } else if (!Character.isSurrogate(c)) {
        hash = tail(tail(step(hash, 0xe0 | (c >> 12)), c >> 6), c);
      } else if (Character.isHighSurrogate(c)
          && i + 1 < text.length()
          && Character.isLowSurrogate(text.charAt(i + 1))) {
        int point = Character.toCodePoint(c, text.charAt(++i));
        hash = step(hash, 0xf0 | (point >> 18));
        hash = tail(tail(tail(hash, point >> 12), point >> 6), point);
      } else {
        hash = step(hash, '?');
      }
    }
    return hash;
  }

  /** A continuation byte of a character. */
  private static long tail(long hash, int bits) {
    return step(hash, 0x80 | (bits & 0x3f));
  }

  private static long step(long hash, int oneByte) {
    return (hash ^ oneByte) * FNV_PRIME;
  }
}
