package io.espalier.webui.security;

/**
 * Who asks.
 *
 * @param name as the tokens file has it
 * @param authenticated false where nobody needs to prove anything
 */
public record Principal(String name, Role role, boolean authenticated) {
  /** No tokens file has this name. */
  static final String ANONYMOUS = "anonymous";

  /**
   * Header with the label of a role that the caller wants to have at most. A server that hands on
   * requests of others with its own token says so what the others may do.
   */
  public static final String ROLE_AT_MOST = "X-Espalier-Role";

  /** Everybody, where there is no authentication: may do everything. */
  public static final Principal ANYBODY = new Principal(ANONYMOUS, Role.ADMIN, false);

  /** The same with the lower one of two roles. */
  public Principal atMost(Role most) {
    return role.covers(most) ? new Principal(name, most, authenticated) : this;
  }

  /** The author of a change: the proven name, or what the caller says when nothing is proven. */
  public String author(String said) {
    return authenticated ? name : said;
  }
}
