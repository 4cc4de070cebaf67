package io.espalier.core.scheduling.index;

import java.util.BitSet;
import org.jspecify.annotations.Nullable;

/**
 * The nodes on which and below which nothing starts, by gates. It is a condition of the index only
 * while a node is closed; otherwise it costs neither memory nor time.
 */
public final class ClosedNodes implements NodeCondition {
  private final StartableIndex index;

  /** Null: no node is closed. */
  private @Nullable BitSet closed;

  public ClosedNodes(StartableIndex index) {
    this.index = index;
  }

  /**
   * Closes or opens a node; the index must evaluate the node again.
   *
   * @return whether that is a change
   */
  public boolean set(int node, boolean on) {
    if (on == isClosed(node)) {
      return false;
    }
    BitSet nodes = closed;
    if (nodes == null) {
      nodes = new BitSet();
      closed = nodes;
      index.add(this);
    }
    nodes.set(node, on);
    if (nodes.isEmpty()) {
      closed = null;
      index.remove(this);
    }
    return true;
  }

  public boolean isClosed(int node) {
    return closed != null && closed.get(node);
  }

  /**
   * Checks that the index asks this condition exactly while a node is closed.
   *
   * @throws IllegalStateException when it does not
   */
  public void check() {
    boolean isNeeded = closed != null && !closed.isEmpty();
    if (isNeeded != index.asks(this)) {
      throw new IllegalStateException("the index asks for closed nodes: " + !isNeeded);
    }
  }

  @Override
  public long mask(int node, int level, int word) {
    return isClosed(node) ? 0 : -1L;
  }
}
