package io.espalier.core.config;

import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * What a node is under one of its parents, such as {@code primary} or {@code replica}. A role is
 * one of a node's place, not of the node: places without one are open to all jobs.
 */
public final class RoleFilter {
  /** The role of a place that has none. */
  public static final String NONE = "";

  private static final Pattern ROLE = Pattern.compile("[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}");

  private RoleFilter() {}

  /** Why a text cannot be a role, to be continued after "the role"; null if it can. */
  public static @Nullable String objection(String role) {
    return ROLE.matcher(role).matches()
        ? null
        : "must have 1 to 64 ASCII letters, digits, and characters of _.-, and start with a letter,"
            + " a digit or _";
  }

  /** Whether a job may use a place as far as its role goes. */
  public static boolean permits(Job job, String role) {
    return role.isEmpty()
        || job.scheduling().roles().isEmpty()
        || job.scheduling().roles().contains(role);
  }
}
