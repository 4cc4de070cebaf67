package io.espalier.webui.security;

import java.util.Locale;
import java.util.Optional;

/** What somebody may do; each role includes those before it. */
public enum Role {
  /** Reads everything. */
  VIEWER,
  /** Also pauses, resumes, stops, forgives, reruns, kills, extends, drains, sets limits. */
  OPERATOR,
  /** Also saves and deletes jobs, which decides what programs run, and lets another lead. */
  ADMIN;

  /** As files and answers write it. */
  public String label() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** Whether whoever has this role may do what needs the other. */
  public boolean covers(Role needed) {
    return compareTo(needed) >= 0;
  }

  /** The role of that label, exactly. */
  public static Optional<Role> of(String label) {
    for (Role role : values()) {
      if (role.label().equals(label)) {
        return Optional.of(role);
      }
    }
    return Optional.empty();
  }
}
