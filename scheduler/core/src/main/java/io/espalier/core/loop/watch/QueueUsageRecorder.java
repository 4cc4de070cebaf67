package io.espalier.core.loop.watch;

import io.espalier.core.loop.state.LoopStats;
import io.espalier.core.scheduling.SchedulingCore;
import io.espalier.core.status.store.QueueUsage;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/**
 * Stores the usage of queues, so that a restart loses one sample at most
 * (docs/design/features.md#history-of-queues). While no slots are in use the stored value decays by
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

  /** Whether slots were in use at the last sample. */
  private boolean wasHeld;

  /**
   * @param started supplies the number of tasks started so far
   * @param store receives each sample
   */
  public QueueUsageRecorder(
      SchedulingCore core, LongSupplier started, Consumer<List<QueueUsage>> store) {
    this.core = core;
    this.started = started;
    this.store = store;
  }

  /**
   * Takes a sample when it is due, and periodically updates resources, queues and groups in the
   * statistics.
   */
  public void step(long nowMillis, LoopStats shown) {
    if (nowMillis >= nextShown || nextShown - nowMillis > SHOWN_MILLIS) {
      nextShown = nowMillis + SHOWN_MILLIS;
      shown.resources(core.capacity().resources());
      boolean none = core.config().settings().rules().queues().isEmpty();
      shown.queues(none ? List.of() : core.capacity().queues());
      shown.groups(core.capacity().groups());
    }
    if (nowMillis >= next || next - nowMillis > PERIOD_MILLIS) {
      next = nowMillis + PERIOD_MILLIS;
      take();
    }
  }

  /** Takes a sample now. */
  public void take() {
    if (core.config().settings().rules().queues().isEmpty()) {
      return;
    }
    boolean isHeld = core.running().count() > 0;
    if (isHeld || wasHeld || started.getAsLong() != startedBefore) {
      store.accept(core.capacity().queueUsage());
    }
    wasHeld = isHeld;
    startedBefore = started.getAsLong();
  }

  /** When the next sample is due; {@link Long#MAX_VALUE} when none is. */
  public long nextMillis() {
    boolean matters = !core.config().settings().rules().queues().isEmpty();
    boolean isDue = wasHeld || core.running().count() > 0 || started.getAsLong() != startedBefore;
    return matters && isDue ? next : Long.MAX_VALUE;
  }
}
