package io.espalier.worker.resources;

import java.time.Duration;
import java.util.Map;

/**
 * How live tasks are measured, and the host.
 *
 * @param period how often each task is looked at; zero or less: never
 * @param cards asked for the graphics cards
 */
public record MeasuringOptions(Duration period, NvidiaSmi cards) {
  /** Nothing is measured, and there are no cards. */
  public static final MeasuringOptions OFF =
      new MeasuringOptions(Duration.ZERO, new NvidiaSmi(NvidiaSmi.OFF, NvidiaSmi.TIMEOUT));

  /** The usual period, and the tool for cards if it is in the search path. */
  public static MeasuringOptions of(Map<String, String> environment) {
    return new MeasuringOptions(
        UsageSampler.PERIOD, NvidiaSmi.found(environment.getOrDefault("PATH", "")));
  }

  /** As flags. */
  public String shown() {
    return "--usage-ms=" + period.toMillis() + " --nvidia-smi=" + cards.shown();
  }
}
