package io.espalier.webui.security;

/**
 * The caller of a request.
 *
 * @param name from the tokens file
 * @param authenticated false where no authentication is required
 */
public record Principal(String name, Role role, boolean authenticated) {
  /** No entry of a tokens file may have this name. */
  static final String ANONYMOUS = "anonymous";

  /**
   * The header with the maximum role that a caller requests. A server that forwards the requests of
   * others with its own token limits the role to theirs with it.
   */
  public static final String ROLE_AT_MOST = "X-Espalier-Role";

  /** Any caller where there is no authentication; may do everything. */
  public static final Principal ANYBODY = new Principal(ANONYMOUS, Role.ADMIN, false);

  /** Returns the same principal with the lower of two roles. */
  public Principal atMost(Role most) {
    return role.covers(most) ? new Principal(name, most, authenticated) : this;
  }

  /**
   * Returns the author of a change: the authenticated name, or the name that an unauthenticated
   * caller states.
   */
  public String author(String said) {
    return authenticated ? name : said;
  }
}
