package io.espalier.core.rollout;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Which tasks belong to which stage of a roll-out, frozen when it began: the {@linkplain
 * RolloutOrder#hash hashes} of the tasks of all stages but the last. Every other task belongs to
 * the last stage, so also one whose node comes later. Two names with the same hash of 64 bits,
 * which nobody will meet, would join together. Immutable.
 */
public final class RolloutMembers {
  private final String job;

  /** Ascending, with the stage of each. */
  private final long[] hashes;

  private final byte[] stages;
  private final int count;

  private RolloutMembers(String job, long[] hashes, byte[] stages, int count) {
    this.job = job;
    this.hashes = hashes;
    this.stages = stages;
    this.count = count;
  }

  /**
   * Creates the members of a roll-out.
   *
   * @param order the hashes of the tasks of all stages but the last, in their order
   * @param sizes how many tasks each stage and those before it have
   */
  public static RolloutMembers of(String job, long[] order, List<Long> sizes) {
    long[] sorted = order.clone();
    Arrays.sort(sorted);
    byte[] stages = new byte[sorted.length];
    int stage = 0;
    for (int i = 0; i < order.length; i++) {
      while (i >= sizes.get(stage)) {
        stage++;
      }
      stages[Arrays.binarySearch(sorted, order[i])] = (byte) stage;
    }
    return new RolloutMembers(job, sorted, stages, sizes.size());
  }

  /** Returns the name of the job. */
  public String job() {
    return job;
  }

  /** Returns the number of stages, the last one included. */
  public int stages() {
    return count;
  }

  /** Returns the number of tasks of all stages but the last. */
  public int size() {
    return hashes.length;
  }

  /** Returns the stage of a task, from 0. */
  public int stage(String node) {
    int at = Arrays.binarySearch(hashes, RolloutOrder.hash(job, node));
    return at < 0 ? count - 1 : stages[at];
  }

  /**
   * Returns the members as texts for stores and recordings, for {@link #ofTexts}: each begins with
   * its stage, and has at most {@code most} tasks.
   */
  public List<String> texts(int most) {
    List<String> texts = new ArrayList<>();
    for (int stage = 0; stage < count - 1; stage++) {
      StringBuilder text = new StringBuilder();
      int held = 0;
      for (int i = 0; i < hashes.length; i++) {
        if (stages[i] == stage) {
          if (held == most) {
            texts.add(text.toString());
            text.setLength(0);
            held = 0;
          }
          text.append(held++ == 0 ? stage + ":" : ",").append(Long.toString(hashes[i], 36));
        }
      }
      if (held > 0) {
        texts.add(text.toString());
      }
    }
    return texts;
  }

  /**
   * Parses the result of {@link #texts}, in any order.
   *
   * @param count the number of stages, the last one included
   * @throws IllegalArgumentException for anything else
   */
  public static RolloutMembers ofTexts(String job, List<String> texts, int count) {
    int size = 0;
    for (String text : texts) {
      size += 1 + (int) text.chars().filter(c -> c == ',').count();
    }
    long[] hashes = new long[size];
    int[] stageOf = new int[size];
    int filled = 0;
    for (String text : texts) {
      int colon = text.indexOf(':');
      if (colon < 0) {
        throw new IllegalArgumentException("members without their stage");
      }
      int stage = Integer.parseInt(text.substring(0, colon));
      if (stage < 0 || stage >= count - 1) {
        throw new IllegalArgumentException("members of stage " + stage);
      }
      for (int from = colon + 1; from <= text.length(); ) {
        int comma = text.indexOf(',', from);
        int to = comma < 0 ? text.length() : comma;
        hashes[filled] = Long.parseLong(text, from, to, 36);
        stageOf[filled++] = stage;
        from = to + 1;
      }
    }
    long[] sorted = hashes.clone();
    Arrays.sort(sorted);
    byte[] stages = new byte[size];
    for (int i = 0; i < size; i++) {
      stages[Arrays.binarySearch(sorted, hashes[i])] = (byte) stageOf[i];
    }
    return new RolloutMembers(job, sorted, stages, count);
  }
}
