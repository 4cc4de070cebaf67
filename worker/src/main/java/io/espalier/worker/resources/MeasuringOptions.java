package io.espalier.worker.resources;

import java.time.Duration;
import java.util.Map;

/**
 * How live tasks and the host are measured.
 *
 * @param period interval between measurements of each task; zero or less: never
 * @param cards tool that reports the graphics cards
 */
public record MeasuringOptions(Duration period, NvidiaSmi cards) {
  /** Measures nothing, and reports no cards. */
  public static final MeasuringOptions OFF =
      new MeasuringOptions(Duration.ZERO, new NvidiaSmi(NvidiaSmi.OFF, NvidiaSmi.TIMEOUT));

  /** Returns the default period, and the tool for cards if it is in the search path. */
  public static MeasuringOptions of(Map<String, String> environment) {
    return new MeasuringOptions(
        UsageSampler.PERIOD, NvidiaSmi.found(environment.getOrDefault("PATH", "")));
  }

  /** Formats the options as flags. */
  public String shown() {
    return "--usage-ms=" + period.toMillis() + " --nvidia-smi=" + cards.shown();
  }
}
