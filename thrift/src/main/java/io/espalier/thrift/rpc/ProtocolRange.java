package io.espalier.thrift.rpc;

/**
 * The versions of the protocol that a program speaks.
 *
 * @param oldest one release back
 * @param newest its own
 */
public record ProtocolRange(int oldest, int newest) {
  /** What this program speaks. */
  public static final ProtocolRange OURS = new ProtocolRange(1, 1);

  public ProtocolRange {
    if (oldest < 1 || newest < oldest) {
      throw new IllegalArgumentException("not a range: " + oldest + " to " + newest);
    }
  }

  /** The newest that both speak; 0 when there is none. */
  public int common(ProtocolRange other) {
    int version = Math.min(newest, other.newest);
    return version >= Math.max(oldest, other.oldest) ? version : 0;
  }

  @Override
  public String toString() {
    return oldest == newest ? Integer.toString(newest) : oldest + " to " + newest;
  }
}
