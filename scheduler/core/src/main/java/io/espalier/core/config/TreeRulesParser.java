package io.espalier.core.config;

/** Reads what the settings say of the tree beside levels and resources. */
final class TreeRulesParser {
  private TreeRulesParser() {}

  static TreeRules read(Fields in, Levels levels, ResourceCatalog resources) {
    return new TreeRules(
        TreeRules.NONE.queues(),
        TreeRules.NONE.priorityHalfLife(),
        TreeRules.NONE.nodeLimits(),
        StartRateParser.ofLevels(in, levels),
        TreeRules.NONE.killOverLimit());
  }
}
