package io.espalier.webui.v1;

/**
 * Describes this process to HTTP clients.
 *
 * @param version of the distribution
 * @param runner the value of {@code --runner}
 * @param shard name of the local runner, as shown with its tasks
 */
public record ServerIdentity(String version, String runner, String shard) {
  public static final ServerIdentity UNNAMED = new ServerIdentity("dev", "local", "local");
}
