package io.espalier.webui.security;

import java.util.Locale;
import java.util.Optional;

/** The roles of callers; each role includes those before it. */
public enum Role {
  /** Reads everything. */
  VIEWER,
  /**
   * Also pauses, resumes, stops, forgives, reruns, cancels, kills, extends, drains, sets limits.
   */
  OPERATOR,
  /**
   * Also saves and deletes jobs, which decides what programs run, and hands the leadership over.
   */
  ADMIN;

  /** Returns the name used in files and answers. */
  public String label() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** Returns true when this role includes the other. */
  public boolean covers(Role needed) {
    return compareTo(needed) >= 0;
  }

  /** Returns the role with exactly that label. */
  public static Optional<Role> of(String label) {
    for (Role role : values()) {
      if (role.label().equals(label)) {
        return Optional.of(role);
      }
    }
    return Optional.empty();
  }
}
