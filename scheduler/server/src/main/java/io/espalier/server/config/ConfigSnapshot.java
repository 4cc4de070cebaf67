package io.espalier.server.config;

import io.espalier.core.config.Config;
import io.espalier.core.problem.Problem;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The poller's result: the configuration in force and the problems of the newest text. Immutable.
 *
 * @param config the last good configuration; null before the first
 * @param version grows by one with each configuration that comes into force; 0 before the first
 * @param problems of the newest text: why it is not in force, or its warnings and job errors if it
 *     is
 * @param stale whether the newest text is not in force
 * @param inForceSince when {@code config} came into force; null before the first
 * @param confirmedAt when {@code config} was last found to be the newest; null before the first
 */
public record ConfigSnapshot(
    @Nullable Config config,
    long version,
    List<Problem> problems,
    boolean stale,
    @Nullable Instant inForceSince,
    @Nullable Instant confirmedAt) {
  /** The snapshot before the first poll. */
  public static final ConfigSnapshot NONE =
      new ConfigSnapshot(null, 0, List.of(), true, null, null);

  public ConfigSnapshot {
    problems = List.copyOf(problems);
  }

  /** Returns for how long the configuration has been outdated; zero while it is up to date. */
  public Duration age(Instant now) {
    return stale && confirmedAt != null ? Duration.between(confirmedAt, now) : Duration.ZERO;
  }
}
