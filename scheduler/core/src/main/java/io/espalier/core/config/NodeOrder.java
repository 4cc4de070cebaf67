package io.espalier.core.config;

/**
 * The order in which siblings are visited; applied from the root down
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
