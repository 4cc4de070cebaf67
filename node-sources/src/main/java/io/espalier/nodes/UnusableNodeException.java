package io.espalier.nodes;

/** What was read does not describe a node; the message continues "row 7 …". */
public final class UnusableNodeException extends Exception {
  private static final long serialVersionUID = 1L;

  public UnusableNodeException(String message) {
    super(message, null, false, false);
  }
}
