package io.espalier.thrift.rpc;

/** What a peer is. */
public enum Role {
  SCHEDULER("scheduler"),
  WORKER("worker");

  private final String word;

  Role(String word) {
    this.word = word;
  }

  /** As it stands in a greeting. */
  public String word() {
    return word;
  }
}
