package io.espalier.webui.v1;

/**
 * What this process is, for those who ask over HTTP.
 *
 * @param version of the distribution
 * @param runner the word of {@code --runner}
 * @param shard name of the local runner, as shown with its tasks
 */
public record ServerIdentity(String version, String runner, String shard) {
  public static final ServerIdentity UNNAMED = new ServerIdentity("dev", "local", "local");
}
