package io.espalier.core.scheduling;

import io.espalier.core.status.Failure;
import io.espalier.core.status.TaskStatus;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One byte per task and, for tasks that were tried, do not run and are not plainly done, their
 * status. Counts per job and code are kept with every write, so progress and histograms need no
 * pass.
 */
final class TaskTable {
  private static final boolean[] REMAINING = new boolean[StatusCodes.COUNT];

  static {
    for (int code = 0; code < REMAINING.length; code++) {
      REMAINING[code] = StatusCodes.isRemaining(code);
    }
  }

  /** By job and node, from the first node of the job's level. */
  private final byte[][] codes;

  private final int[] first;
  private final int[][] counts;
  private final long[] remaining;

  /** By job; null: nobody counts its tagged tasks. */
  private final @Nullable List<TagCounts>[] watches;

  private final LongMap<TaskStatus> details = new LongMap<>();
  private final FailureIndex[] failures;

  /**
   * @param codes by job: one code per node of its level
   * @param first by job: the first node of its level
   */
  TaskTable(byte[][] codes, int[] first) {
    this.codes = codes;
    this.first = first;
    counts = new int[codes.length][StatusCodes.COUNT];
    remaining = new long[codes.length];
    watches = watches(codes.length);
    failures = new FailureIndex[codes.length];
    Arrays.setAll(failures, j -> new FailureIndex());
    for (int j = 0; j < codes.length; j++) {
      for (byte code : codes[j]) {
        counts[j][code & 0xff]++;
      }
      for (int code = 0; code < StatusCodes.COUNT; code++) {
        remaining[j] += REMAINING[code] ? counts[j][code] : 0;
      }
    }
  }

  @SuppressWarnings({"unchecked", "rawtypes"}) // there are no generic arrays
  private static @Nullable List<TagCounts>[] watches(int jobs) {
    return new List[jobs];
  }

  /** Counts some tasks of a job from now on. */
  TagCounts watch(int job, BitSet nodes) {
    TagCounts counts = new TagCounts(nodes, codes[job]);
    List<TagCounts> others = watches[job];
    if (others == null) {
      others = new ArrayList<>();
      watches[job] = others;
    }
    others.add(counts);
    return counts;
  }

  static long key(int job, int node) {
    return (long) job << 32 | node;
  }

  static int job(long key) {
    return (int) (key >>> 32);
  }

  static int node(long key) {
    return (int) key;
  }

  boolean has(int job, int node) {
    int at = node - first[job];
    return at >= 0 && at < codes[job].length;
  }

  int code(int job, int node) {
    return codes[job][node - first[job]] & 0xff;
  }

  int first(int job) {
    return first[job];
  }

  /**
   * Counts a range of nodes by the state of their codes.
   *
   * @param states by code
   * @param counts are added to, from {@code row} on
   */
  void tally(int job, int from, int to, byte[] states, long[] counts, int row) {
    byte[] codesOfJob = codes[job];
    int begin = from - first[job];
    int end = to - first[job];
    for (int i = begin; i < end; i++) {
      counts[row + states[codesOfJob[i] & 0xff]]++;
    }
  }

  /** Exclusive. */
  int end(int job) {
    return first[job] + codes[job].length;
  }

  /** Returns the code before. */
  int set(int job, int node, int code) {
    byte[] row = codes[job];
    int at = node - first[job];
    int before = row[at] & 0xff;
    row[at] = (byte) code;
    int[] count = counts[job];
    count[before]--;
    count[code]++;
    if (REMAINING[before] != REMAINING[code]) {
      remaining[job] += REMAINING[code] ? 1 : -1;
    }
    List<TagCounts> counting = watches[job];
    if (counting != null) {
      counting.forEach(counts -> counts.changed(at, before, code));
    }
    return before;
  }

  int count(int job, int code) {
    return counts[job][code];
  }

  long remaining(int job) {
    return remaining[job];
  }

  /** Null also of a task that runs: see {@link World#status}. */
  @Nullable TaskStatus detail(int job, int node) {
    return details.get(key(job, node));
  }

  /** Keeps the status of a task of which none is kept. */
  void addDetail(int job, int node, TaskStatus status) {
    Failure failure = status.failure();
    details.put(
        key(job, node), failure == null ? status : failures[job].add(node, status, failure));
  }

  void removeDetail(int job, int node) {
    FailureIndex failed = failures[job];
    TaskStatus before = failed.isEmpty() ? null : details.get(key(job, node));
    Failure failure = before == null ? null : before.failure();
    if (before != null && failure != null) {
      failed.remove(before, failure);
    }
    details.remove(key(job, node));
  }

  FailureIndex failures(int job) {
    return failures[job];
  }

  LongMap<TaskStatus> details() {
    return details;
  }

  long byteSize() {
    long size = 0;
    for (byte[] row : codes) {
      size += row.length;
    }
    return size;
  }
}
