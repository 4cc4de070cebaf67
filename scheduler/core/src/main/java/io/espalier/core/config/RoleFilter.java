package io.espalier.core.config;

import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Decides whether a job may use a node under a parent by its role there, such as {@code primary} or
 * {@code replica}. A role belongs to an edge, not to the node; edges without a role are open to all
 * jobs.
 */
public final class RoleFilter {
  /** The role of an edge that has none. */
  public static final String NONE = "";

  private static final Pattern ROLE = Pattern.compile("[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}");

  private RoleFilter() {}

  /** Why a text is not a valid role, as a continuation of "the role"; null when it is valid. */
  public static @Nullable String objection(String role) {
    return ROLE.matcher(role).matches()
        ? null
        : "must have 1 to 64 ASCII letters, digits, and characters of _.-, and start with a letter,"
            + " a digit or _";
  }

  /** Returns true when the role of an edge permits a job to use it. */
  public static boolean permits(Job job, String role) {
    return role.isEmpty()
        || job.scheduling().roles().isEmpty()
        || job.scheduling().roles().contains(role);
  }
}
