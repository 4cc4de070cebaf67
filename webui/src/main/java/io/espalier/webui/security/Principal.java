package io.espalier.webui.security;

import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * The caller of a request.
 *
 * @param name from the tokens file
 * @param authenticated false where no authentication is required
 * @param queues whose jobs and tasks it may steer as an operator, whatever its role
 */
public record Principal(String name, Role role, boolean authenticated, Set<String> queues) {
  /** What the roles of those who steer only the jobs of some queues begin with. */
  static final String OF_QUEUES = "operator@";

  /** No entry of a tokens file may have this name. */
  static final String ANONYMOUS = "anonymous";

  /**
   * The header with the maximum role that a caller requests: that of a tokens file, with the names
   * of queues as in a URL. A server that forwards the requests of others with its own token limits
   * the role to theirs with it.
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

  /**
   * Returns the same principal with no more rights than its own and those of a role.
   *
   * @param label value of {@link #ROLE_AT_MOST}; what is no role may only read
   */
  public Principal atMost(String label) {
    if (label.startsWith(OF_QUEUES)) {
      Set<String> wanted = queuesOf(label);
      if (!role.covers(Role.OPERATOR)) {
        wanted.retainAll(queues);
      }
      return new Principal(name, Role.VIEWER, authenticated, wanted);
    }
    Role most = Role.of(label).orElse(Role.VIEWER);
    Role least = role.covers(most) ? most : role;
    return new Principal(
        name, least, authenticated, most.covers(Role.OPERATOR) ? queues : Set.of());
  }

  /** Returns the value of {@link #ROLE_AT_MOST} that grants what this principal may. */
  public String label() {
    return queues.isEmpty() || role.covers(Role.OPERATOR)
        ? role.label()
        : OF_QUEUES
            + new TreeSet<>(queues)
                .stream()
                    .map(queue -> URLEncoder.encode(queue, StandardCharsets.UTF_8))
                    .collect(Collectors.joining(","));
  }

  private static Set<String> queuesOf(String label) {
    Set<String> queues = new TreeSet<>();
    for (String queue : List.of(label.substring(OF_QUEUES.length()).split(",", -1))) {
      try {
        queues.add(URLDecoder.decode(queue, StandardCharsets.UTF_8));
      } catch (IllegalArgumentException e) {
        return new TreeSet<>();
      }
    }
    // The queue of a job that does not exist is called so.
    queues.remove("");
    return queues;
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
