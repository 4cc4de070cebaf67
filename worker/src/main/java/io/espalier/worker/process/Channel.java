package io.espalier.worker.process;

/**
 * A channel that a task process writes to. The canary carries no data; it only shows that
 * descendants are alive.
 */
enum Channel {
  STDOUT(0),
  STDERR(1),
  STATUS(2),
  CANARY(3);

  private static final Channel[] ALL = values();

  private final int index;

  Channel(int index) {
    this.index = index;
  }

  static Channel of(int index) {
    return ALL[index];
  }

  /** Returns the index: dense, from 0, with stdout and stderr first. */
  int index() {
    return index;
  }
}
