package io.espalier.core.config;

/** Reads what the settings say of the tree beside levels and resources. */
final class TreeRulesParser {
  private TreeRulesParser() {}

  static TreeRules read(Fields in, Levels levels, ResourceCatalog resources) {
    return new TreeRules(
        QueuesParser.read(in, resources),
        QueuesParser.readHalfLife(in),
        NodeLimitParser.read(in, levels, resources),
        StartRateParser.ofLevels(in, levels),
        NodeLimitParser.killOverLimit(in));
  }
}
