package io.espalier.core.forecast;

import io.espalier.core.scheduling.CoreEvent;
import io.espalier.core.status.store.Brake;
import java.util.List;
import java.util.Map;

/**
 * The state of a scheduler as the events that bring a new core into that state, in the form of a
 * recording (docs/adr/0037-recording.md).
 *
 * @param atMillis its time, epoch milliseconds
 * @param events in order; may be read several times
 * @param startedMillis when each running task was started, epoch milliseconds, in the order of the
 *     {@code Adopted} events
 * @param paces of jobs with ended invocations, by name
 * @param brakes in the order in which they were set; their gates, factors and caps are events too
 * @param pauses by paused job: when it resumes by itself, epoch milliseconds; 0: it does not. Their
 *     gates are events too
 */
public record SchedulerSnapshot(
    long atMillis,
    Iterable<CoreEvent> events,
    List<Long> startedMillis,
    Map<String, JobPace> paces,
    List<Brake> brakes,
    Map<String, Long> pauses) {
  public SchedulerSnapshot {
    startedMillis = List.copyOf(startedMillis);
    paces = Map.copyOf(paces);
    brakes = List.copyOf(brakes);
    pauses = Map.copyOf(pauses);
  }

  /** Returns the number that a new core gives to its n-th running task, from 0. */
  public static long run(int n) {
    return 1L << 32 | n;
  }
}
