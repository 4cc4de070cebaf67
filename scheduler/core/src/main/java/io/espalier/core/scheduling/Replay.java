package io.espalier.core.scheduling;

import io.espalier.core.scheduling.CoreEvent.Placed;
import io.espalier.core.scheduling.gate.Gate;
import java.util.Iterator;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Repeats the recorded events of one core on another core, and compares every placement and every
 * result. The same events, instants and seed give the same placements
 * (docs/design/design.md#the-index). Not thread-safe.
 */
public final class Replay {
  private final SchedulingCore core;
  private final Map<String, ? extends SchedulingPolicy> policies;
  private final Iterator<CoreEvent> events;
  private long count;
  private long placements;
  private @Nullable CoreEvent ahead;
  private boolean cutOff;

  /** Thrown when the events end within a round. */
  private static final class CutOffException extends RuntimeException {
    private static final long serialVersionUID = 1;
  }

  /** Thrown when the core behaves differently from the recorded one. */
  public static final class DifferenceException extends RuntimeException {
    private static final long serialVersionUID = 1;

    /** Creates an exception that quotes the recorded and the actual event. */
    public DifferenceException(String message) {
      super(message);
    }
  }

  /**
   * The result of a replay.
   *
   * @param events all events, including placements
   * @param cutOff whether the events end within a round, because their writer was killed
   */
  public record Summary(long events, long placements, int running, boolean cutOff) {}

  /**
   * @param core a new core with the seed and the selectors of the recorded one
   * @param policies the policies by name
   * @param events all events, from the first one
   */
  public Replay(
      SchedulingCore core,
      Map<String, ? extends SchedulingPolicy> policies,
      Iterator<CoreEvent> events) {
    this.core = core;
    this.policies = policies;
    this.events = events;
  }

  /**
   * Replays all events.
   *
   * @throws DifferenceException at the first difference
   */
  public Summary run() {
    while (next()) {
      // Each event is applied when it is read.
    }
    return summary();
  }

  /** Returns a summary of the events replayed so far. */
  public Summary summary() {
    return new Summary(count, placements, core.running().count(), cutOff);
  }

  /**
   * Replays the next event; a slice of a round counts as one event.
   *
   * @return false when there was no further event
   * @throws DifferenceException when the core behaves differently
   */
  public boolean next() {
    CoreEvent event = take();
    if (event == null) {
      return false;
    }
    try {
      apply(event);
      return true;
    } catch (CutOffException e) {
      cutOff = true;
      return false;
    } catch (IllegalArgumentException | IllegalStateException | IndexOutOfBoundsException e) {
      // This core refuses what the recorded core did, so its state differs.
      throw new DifferenceException("recorded " + event + ", refused here: " + e.getMessage());
    }
  }

  private @Nullable CoreEvent take() {
    CoreEvent event = ahead;
    ahead = null;
    if (event == null && events.hasNext()) {
      event = events.next();
    }
    count += event == null ? 0 : 1;
    return event;
  }

  private CoreEvent more() {
    CoreEvent event = take();
    if (event == null) {
      throw new CutOffException();
    }
    return event;
  }

  private void apply(CoreEvent event) {
    if (event instanceof CoreEvent.RoundBegan round) {
      round(round);
    } else if (event instanceof CoreEvent.Finished e) {
      core.finish(e.run(), e.status());
    } else if (event instanceof CoreEvent.StatusSet e) {
      core.setStatus(e.job(), e.node(), e.status());
    } else if (event instanceof CoreEvent.Advanced e) {
      same(
          e,
          new CoreEvent.Advanced(e.nowMillis(), e.limit(), core.advance(e.nowMillis(), e.limit())));
    } else if (event instanceof CoreEvent.Clock e) {
      core.setClock(e.nowMillis());
    } else if (event instanceof CoreEvent.Adopted e) {
      same(
          e,
          new CoreEvent.Adopted(
              e.job(),
              e.node(),
              e.worker(),
              e.batch(),
              core.adopt(e.job(), e.node(), e.worker(), e.batch())));
    } else if (event instanceof CoreEvent.Gated e) {
      gate(e);
    } else if (event instanceof CoreEvent.WorkersNamed e) {
      core.workers(e.workers());
    } else {
      changes(event);
    }
  }

  private void changes(CoreEvent event) {
    if (event instanceof CoreEvent.Began e) {
      core.begin(core.prepare(e.config(), e.topology()));
    } else if (event instanceof CoreEvent.Stepped e) {
      boolean done = core.step(e.units()) != null;
      // A snapshot has one step for all of an update.
      while (!done && e.done() && e.units() == Integer.MAX_VALUE) {
        done = core.step(e.units()) != null;
      }
      same(e, new CoreEvent.Stepped(e.units(), done));
    } else if (event instanceof CoreEvent.Overridden e) {
      core.limits().override(e.override());
    } else if (event instanceof CoreEvent.OverrideEnded e) {
      core.limits().endOverride(e.key());
    } else if (event instanceof CoreEvent.FactorSet e) {
      core.limits().setFactor(e.factor());
    } else if (event instanceof CoreEvent.FactorRemoved e) {
      core.limits().removeFactor(e.id());
    } else if (event instanceof CoreEvent.HealthSet e) {
      core.limits().setHealth(e.health());
    } else if (event instanceof CoreEvent.HealthRemoved e) {
      core.limits().removeHealth(e.level(), e.resource(), e.node());
    } else if (event instanceof CoreEvent.StagesClosed e) {
      core.gates().close(e.gate());
    } else if (event instanceof CoreEvent.StagesOpened e) {
      core.gates().openStages(e.job());
    } else if (event instanceof CoreEvent.CapSet e) {
      core.limits().setCap(e.cap());
    } else if (event instanceof CoreEvent.CapRemoved e) {
      core.limits().removeCap(e.id());
    } else if (event instanceof CoreEvent.QueuesRestored e) {
      core.restoreQueueUsage(e.usage(), e.nowMillis());
    } else if (event instanceof CoreEvent.LimitsStepped e) {
      same(e, new CoreEvent.LimitsStepped(e.units(), core.stepLimits(e.units())));
    } else {
      throw new DifferenceException("recorded " + event + " outside a round");
    }
  }

  private void gate(CoreEvent.Gated e) {
    if (e.closed()) {
      core.gates().close(new Gate(e.kind(), e.scope(), "", "", 0, 0));
    } else {
      core.gates().open(e.kind(), e.scope());
    }
  }

  private void round(CoreEvent.RoundBegan began) {
    SchedulingPolicy policy = policies.get(began.policy());
    if (policy == null) {
      throw new DifferenceException("there is no scheduling policy called " + began.policy());
    }
    boolean complete = core.round(policy, began.maxStarts(), this::placed);
    same(more(), new CoreEvent.RoundEnded(complete));
  }

  /** Compares a start, then repeats the calls that its listener made. */
  private void placed(long run) {
    same(more(), core.placement(run));
    placements++;
    CoreEvent event = take();
    while (event != null
        && !(event instanceof Placed)
        && !(event instanceof CoreEvent.RoundEnded)) {
      apply(event);
      event = take();
    }
    if (event != null) {
      ahead = event;
      count--;
    }
  }

  private static void same(CoreEvent recorded, CoreEvent replayed) {
    if (!replayed.equals(recorded)) {
      throw new DifferenceException("recorded " + recorded + ", replayed " + replayed);
    }
  }
}
