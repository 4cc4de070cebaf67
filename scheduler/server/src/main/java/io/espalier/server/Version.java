package io.espalier.server;

/** Provides the version of the distribution. */
public final class Version {
  private Version() {}

  /**
   * Returns the version from the manifest of the jar, or {@code development} when run from classes.
   */
  public static String get() {
    String version = Version.class.getPackage().getImplementationVersion();
    return version == null ? "development" : version;
  }
}
