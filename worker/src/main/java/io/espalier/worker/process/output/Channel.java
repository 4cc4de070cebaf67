package io.espalier.worker.process.output;

/**
 * A channel that a task process writes to. The canary carries no data; it only shows that
 * descendants are alive.
 */
public enum Channel {
  STDOUT(0),
  STDERR(1),
  STATUS(2),
  CANARY(3);

  private static final Channel[] ALL = values();

  private final int index;

  Channel(int index) {
    this.index = index;
  }

  public static Channel of(int index) {
    return ALL[index];
  }

  /** Returns the index: dense, from 0, with stdout and stderr first. */
  public int index() {
    return index;
  }
}
