package io.espalier.server.process;

/** The version of the distribution. */
public final class Version {
  private Version() {}

  /** As in the manifest of the jar; {@code development} when run from classes. */
  public static String get() {
    String version = Version.class.getPackage().getImplementationVersion();
    return version == null ? "development" : version;
  }
}
