package io.espalier.core.config;

/** In which order siblings are looked at; applied from the root down (design ruling 13). */
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
