package io.espalier.thrift.rpc;

/** What a peer is. */
public enum PeerRole {
  SCHEDULER("scheduler"),
  WORKER("worker");

  private final String word;

  PeerRole(String word) {
    this.word = word;
  }

  /** As it stands in a greeting. */
  public String word() {
    return word;
  }
}
