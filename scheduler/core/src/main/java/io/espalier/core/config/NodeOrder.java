package io.espalier.core.config;

/**
 * In which order siblings are looked at; applied from the root down
 * (docs/design/design.md#order-of-nodes).
 */
public enum NodeOrder {
  RANDOM("random"),
  ORIGINAL("original"),
  LEXICOGRAPHIC("lexicographic");

  private final String label;

  NodeOrder(String label) {
    this.label = label;
  }

  public String label() {
    return label;
  }
}
