package io.espalier.webui.v1;

/**
 * Describes this process to HTTP clients.
 *
 * @param version of the distribution
 * @param runner the value of {@code --runner}
 * @param name what people call this scheduler: the name of its root node; empty for none
 */
public record ServerIdentity(String version, String runner, String name) {
  public static final ServerIdentity UNNAMED = new ServerIdentity("dev", "local", "");
}
