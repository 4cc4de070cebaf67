package io.espalier.core.config;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/** Reads what a job says of its place among others. */
final class JobSchedulingParser {
  private JobSchedulingParser() {}

  static JobScheduling read(Fields in, JobScheduling inherited) {
    return new JobScheduling(
        inherited.queue(),
        inherited.maxConcurrent(),
        inherited.startRate(),
        inherited.reserveAfter(),
        roles(in, inherited.roles()));
  }

  private static List<String> roles(Fields in, List<String> inherited) {
    // Only jobs have roles; the settings' defaults do not.
    Value value = in.mayHave("roles") ? in.find("roles") : null;
    List<Value> items = value == null ? null : value.items();
    if (items == null) {
      return inherited;
    }
    Set<String> roles = new LinkedHashSet<>();
    for (Value item : items) {
      String role = item.text();
      String objection = role == null ? null : Roles.objection(role);
      if (objection != null) {
        item.error("a role " + objection, null);
      } else if (role != null) {
        roles.add(role);
      }
    }
    return List.copyOf(roles);
  }
}
