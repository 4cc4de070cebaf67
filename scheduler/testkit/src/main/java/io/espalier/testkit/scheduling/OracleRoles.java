package io.espalier.testkit.scheduling;

import io.espalier.core.config.Job;
import io.espalier.core.topology.NodeSpec;
import java.util.List;
import java.util.Random;

/** Reimplements roles of places and which of them a job may use, and generates random ones. */
final class OracleRoles {
  private static final String[] ROLES = {"primary", "replica", "witness"};

  private OracleRoles() {}

  static boolean permits(Job job, String role) {
    List<String> wanted = job.scheduling().roles();
    return wanted.isEmpty() || role.equals("") || wanted.stream().anyMatch(role::equals);
  }

  /** Gives a role to every third node. */
  static NodeSpec some(Random random, NodeSpec node) {
    return random.nextInt(3) == 0 ? node.withRole(ROLES[random.nextInt(ROLES.length)]) : node;
  }

  /** Lets every third job require a role, or one of two. */
  static JobFixture some(Random random, JobFixture job) {
    return switch (random.nextInt(6)) {
      case 0 -> job.roles(ROLES[random.nextInt(ROLES.length)]);
      case 1 -> job.roles("primary", "replica");
      default -> job;
    };
  }
}
