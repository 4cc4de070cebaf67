package io.espalier.core.config.read;

import io.espalier.core.config.Levels;
import io.espalier.core.config.LimitRules;
import io.espalier.core.config.ResourceCatalog;

/** Parses the limits in the settings, apart from levels and resources. */
final class LimitRulesParser {
  private LimitRulesParser() {}

  static LimitRules read(ConfigObject in, Levels levels, ResourceCatalog resources) {
    return new LimitRules(
        QueuesParser.read(in, resources),
        QueuesParser.readHalfLife(in),
        NodeLimitParser.read(in, levels, resources),
        StartRateParser.ofLevels(in, levels),
        NodeLimitParser.killOverLimit(in));
  }
}
