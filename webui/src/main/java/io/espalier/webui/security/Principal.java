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

  /** Everybody, where there is no authentication: may do everything. */
  public static final Principal ANYBODY = new Principal(ANONYMOUS, Role.ADMIN, false);

  /** The author of a change: the proven name, or what the caller says when nothing is proven. */
  public String author(String said) {
    return authenticated ? name : said;
  }
}
