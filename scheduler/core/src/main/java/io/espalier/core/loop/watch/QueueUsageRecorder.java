package io.espalier.core.loop.watch;

import io.espalier.core.loop.state.LoopStats;
import io.espalier.core.scheduling.SchedulingCore;
import io.espalier.core.status.QueueUsage;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/**
 * Stores what queues have used, so that a restart loses one sample at most
 * (docs/design/features.md#history-of-queues). While nothing is held the stored value decays by
 * itself, and nothing is written.
 */
public final class QueueUsageRecorder {
  private static final long PERIOD_MILLIS = 10_000;
  private static final long SHOWN_MILLIS = 1_000;

  private final SchedulingCore core;
  private final LongSupplier started;
  private final Consumer<List<QueueUsage>> store;
  private long next;
  private long startedBefore;
  private long nextShown;

  /** Whether something was held when the last sample was taken. */
  private boolean wasHeld;

  /**
   * @param started how many tasks were
   * @param store gets each sample
   */
  public QueueUsageRecorder(
      SchedulingCore core, LongSupplier started, Consumer<List<QueueUsage>> store) {
    this.core = core;
    this.started = started;
    this.store = store;
  }

  /** Takes a sample when it is time for one, and shows the queues now and then. */
  public void step(long nowMillis, LoopStats shown) {
    if (nowMillis >= nextShown || nextShown - nowMillis > SHOWN_MILLIS) {
      nextShown = nowMillis + SHOWN_MILLIS;
      boolean none = core.config().settings().rules().queues().isEmpty();
      shown.queues(none ? List.of() : core.queues());
    }
    if (nowMillis >= next || next - nowMillis > PERIOD_MILLIS) {
      next = nowMillis + PERIOD_MILLIS;
      take();
    }
  }

  /** Takes one now. */
  public void take() {
    if (core.config().settings().rules().queues().isEmpty()) {
      return;
    }
    boolean isHeld = core.runningCount() > 0;
    if (isHeld || wasHeld || started.getAsLong() != startedBefore) {
      store.accept(core.queueUsage());
    }
    wasHeld = isHeld;
    startedBefore = started.getAsLong();
  }

  /** When the next one is due; {@link Long#MAX_VALUE}: none is. */
  public long nextMillis() {
    boolean matters = !core.config().settings().rules().queues().isEmpty();
    boolean isDue = wasHeld || core.runningCount() > 0 || started.getAsLong() != startedBefore;
    return matters && isDue ? next : Long.MAX_VALUE;
  }
}
