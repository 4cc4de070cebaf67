package io.espalier.webui.security;

import java.util.Set;

/**
 * The caller of a request.
 *
 * @param name from the tokens file
 * @param authenticated false where no authentication is required
 * @param queues whose jobs and tasks it may steer as an operator, whatever its role
 */
public record Principal(String name, Role role, boolean authenticated, Set<String> queues) {
  /** No entry of a tokens file may have this name. */
  static final String ANONYMOUS = "anonymous";

  /**
   * The header with the maximum role that a caller requests. A server that forwards the requests of
   * others with its own token limits the role to theirs with it.
   */
  public static final String ROLE_AT_MOST = "X-Espalier-Role";

  /** Any caller where there is no authentication; may do everything. */
  public static final Principal ANYBODY = new Principal(ANONYMOUS, Role.ADMIN, false);

  /**
   * The header in which a trusted proxy, at which people have signed on, says who asks. From others
   * it is refused (docs/security.md#sign-on-by-a-proxy).
   */
  public static final String USER = "X-Espalier-User";

  public Principal {
    queues = Set.copyOf(queues);
  }

  /** Creates a caller whose role is the same for all queues. */
  public Principal(String name, Role role, boolean authenticated) {
    this(name, role, authenticated, Set.of());
  }

  /** Returns the same principal with the lower of two roles. */
  public Principal atMost(Role most) {
    Role least = role.covers(most) ? most : role;
    return new Principal(
        name, least, authenticated, most.covers(Role.OPERATOR) ? queues : Set.of());
  }

  /**
   * Returns true when it may do what needs a role to a job.
   *
   * @param queue of the job; empty: unknown
   */
  public boolean may(Role needed, String queue) {
    return role.covers(needed) || (Role.OPERATOR.covers(needed) && queues.contains(queue));
  }

  /**
   * Returns the author of a change: the authenticated name, or the name that an unauthenticated
   * caller states.
   */
  public String author(String said) {
    return authenticated ? name : said;
  }
}
