package io.espalier.core.loop.watch;

import io.espalier.core.api.view.Explanation.Kind;
import io.espalier.core.api.view.Explanation.Reason;
import io.espalier.core.loop.state.LoopStats;
import io.espalier.core.loop.state.RoundStep;
import io.espalier.core.running.Invocation;
import io.espalier.core.running.TaskResult;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Bounds how many starts are in flight: placed, and not confirmed by the runner yet ({@code
 * max_starting}). The bound in force, the window, is at most the configured one. It is halved when
 * a start is refused or slow, and grows by one with each that is not; of the starts that were
 * placed before it was halved, no other halves it again, because they say nothing new.
 *
 * <p>Without a configured bound nothing is counted. For the owner of the loop.
 */
public final class StartsInFlight implements RoundStep {
  /** From when on a start is slow, from its dispatch to its confirmation, in milliseconds. */
  public static final long SLOW_MILLIS = 10_000;

  /** Of a start that is not dispatched yet. */
  private static final long NEVER = Long.MIN_VALUE;

  /** The starts in flight, and when each was dispatched. */
  private final Map<Invocation, Long> dispatched = new HashMap<>();

  private int most;
  private int window;
  private long newest;

  /** The newest start when the window was halved last. */
  private long halvedAt;

  private @Nullable String told;

  /**
   * Takes the configured bound; the window begins with it.
   *
   * @param newMost 0: there is no bound
   * @return true when the bound has changed
   */
  public boolean configured(int newMost) {
    if (newMost == most) {
      return false;
    }
    most = newMost;
    window = newMost;
    dispatched.clear();
    return true;
  }

  /** Returns how many more tasks may be placed now. */
  @Override
  public int room() {
    return most == 0 ? Integer.MAX_VALUE : Math.max(0, window - dispatched.size());
  }

  @Override
  public boolean step(long nowMillis) {
    String before = told;
    told = problem();
    return !Objects.equals(before, told);
  }

  @Override
  public void problems(BiConsumer<String, @Nullable String> to) {
    to.accept("starting", told);
  }

  @Override
  public void stats(LoopStats stats) {
    stats.starting(dispatched.size(), window);
  }

  /** Describes a window that is narrow; null: it is not. */
  private @Nullable String problem() {
    return window * 2 > most || most <= 1
        ? null
        : "starts are refused or slow: at most %d of %d are in flight at once"
            .formatted(window, most);
  }

  /** Describes why no task starts while there is no {@link #room}. */
  public Reason reason() {
    String narrowed = window == most ? "" : ", because some were refused or slow";
    return Reason.of(
            Kind.STARTING,
            null,
            "%d starts are begun and not confirmed, \"max_starting\" (%d) lets %d be now%s"
                .formatted(dispatched.size(), most, window, narrowed))
        .lacking(null, 1, window - dispatched.size(), window);
  }

  public void placed(Invocation start) {
    if (most > 0) {
      dispatched.put(start, NEVER);
      newest = start.sequence();
    }
  }

  /** A start was handed to the runner. */
  public void dispatched(Invocation start, long nowMillis) {
    if (most > 0) {
      dispatched.computeIfPresent(start, (same, never) -> nowMillis);
    }
  }

  /** A start is confirmed. */
  public void confirmed(Invocation start, long nowMillis) {
    Long at = dispatched.remove(start);
    if (at == null) {
      return;
    }
    if (at != NEVER && nowMillis - at > SLOW_MILLIS) {
      halve(start);
    } else {
      window = Math.min(most, window + 1);
    }
  }

  /** An invocation has ended; the runner need not have confirmed its start. */
  public void ended(TaskResult end, long nowMillis) {
    Long at = dispatched.get(end.invocation());
    if (at == null) {
      return;
    }
    if (at == NEVER) {
      // The scheduler itself took the start back.
      dispatched.remove(end.invocation());
    } else if (end.kind() == TaskResult.Kind.NOT_STARTED || end.kind() == TaskResult.Kind.LOST) {
      dispatched.remove(end.invocation());
      halve(end.invocation());
    } else {
      confirmed(end.invocation(), nowMillis);
    }
  }

  private void halve(Invocation start) {
    if (start.sequence() > halvedAt) {
      window = Math.max(1, window / 2);
      halvedAt = newest;
    }
  }
}
