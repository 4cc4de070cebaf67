package io.espalier.thrift.rpc;

/** The role of a peer. */
public enum PeerRole {
  SCHEDULER("scheduler"),
  WORKER("worker");

  private final String word;

  PeerRole(String word) {
    this.word = word;
  }

  /** Returns the word used in a greeting. */
  public String word() {
    return word;
  }

  /** Returns the role of the other end of a connection. */
  PeerRole other() {
    return this == SCHEDULER ? WORKER : SCHEDULER;
  }
}
