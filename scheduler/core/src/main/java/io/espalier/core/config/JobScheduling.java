package io.espalier.core.config;

import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * What a job says of its place among others, beside priority and needs.
 *
 * @param queue the tenant it belongs to
 * @param maxConcurrent running tasks at most; 0: as many as fit
 * @param startRate how often a task of it may start; empty: as often as one fits
 * @param reserveAfter how long a task may wait for nothing but slots until a node is kept free for
 *     it (docs/design/design.md#room-kept-for-heavy-tasks); empty: for ever
 * @param roles of the places that it may use where a node has several parents; empty: all
 */
public record JobScheduling(
    String queue,
    int maxConcurrent,
    Optional<StartRate> startRate,
    Optional<Duration> reserveAfter,
    List<String> roles) {
  /** The queue of jobs that name none. */
  public static final String DEFAULT_QUEUE = "default";

  public static final JobScheduling DEFAULT =
      new JobScheduling(
          DEFAULT_QUEUE, 0, Optional.empty(), Optional.of(Duration.ofSeconds(60)), List.of());

  public JobScheduling {
    roles = List.copyOf(roles);
  }

  /** The same with another time to wait for slots. */
  public JobScheduling withReserveAfter(Optional<Duration> other) {
    return new JobScheduling(queue, maxConcurrent, startRate, other, roles);
  }
}
