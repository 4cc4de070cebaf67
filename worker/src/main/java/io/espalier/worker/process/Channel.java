package io.espalier.worker.process;

/** What a task process writes to. The canary only tells that descendants are still there. */
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

  /** Dense, from 0; stdout and stderr come first. */
  int index() {
    return index;
  }
}
