package io.espalier.core.config;

/** The keys of a configuration document; the paths of its problems begin with them. */
public final class ConfigDocument {
  /** The key of the settings. */
  public static final String SETTINGS = "bistro_settings";

  /** The key of a job, without its name, which follows. */
  public static final String JOB = "bistro_job->";

  private ConfigDocument() {}
}
