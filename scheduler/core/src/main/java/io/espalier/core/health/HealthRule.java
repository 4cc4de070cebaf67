package io.espalier.core.health;

import java.util.List;

/**
 * How the limits of a resource follow the health of its nodes.
 *
 * @param probes names of the probes, all of the level of the resource; not empty
 * @param floor slots that are always left
 */
public record HealthRule(List<String> probes, int floor) {
  public HealthRule {
    probes = List.copyOf(probes);
  }
}
