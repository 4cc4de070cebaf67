package io.espalier.core.scheduling.gate;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The jobs that may start tasks as far as jobs as a whole are concerned: one bit per job, the
 * conjunction of everything that can close a job. A round reads only these bits and those of the
 * index, so a condition costs nothing per start as long as it does not change.
 *
 * <p>Each {@link Source} keeps bits of its own and calls {@link #changed} after it has changed one.
 */
public final class JobGates {
  private final long[] open;
  private final List<Source> sources = new ArrayList<>();

  /** Something that can close jobs. */
  public interface Source {
    /** Returns the bits of the jobs that it does not close. */
    long open(int word);
  }

  /**
   * @param words the number of words for the bits of all jobs
   */
  public JobGates(int words) {
    open = new long[words];
    Arrays.fill(open, -1L);
  }

  /** Adds a source; {@link #changed()} must follow. */
  public void add(Source source) {
    sources.add(source);
  }

  /** Returns the bits of the jobs that no source closes. */
  public long open(int word) {
    return open[word];
  }

  /** Reads a word of all sources again. */
  public void changed(int word) {
    open[word] = conjunction(word);
  }

  /** Reads all words of all sources again. */
  public void changed() {
    for (int word = 0; word < open.length; word++) {
      changed(word);
    }
  }

  private long conjunction(int word) {
    long bits = -1L;
    for (int i = 0; i < sources.size(); i++) {
      bits &= sources.get(i).open(word);
    }
    return bits;
  }

  /**
   * Compares the bits with those of the sources.
   *
   * @throws IllegalStateException when they differ
   */
  public void check() {
    for (int word = 0; word < open.length; word++) {
      if (open[word] != conjunction(word)) {
        throw new IllegalStateException("the gates of the jobs of word " + word + " are wrong");
      }
    }
  }
}
