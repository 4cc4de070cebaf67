package io.espalier.core.loop.command;

import io.espalier.core.api.RefusedException;
import io.espalier.core.api.view.BrakeView;
import io.espalier.core.event.EventKind;
import io.espalier.core.json.Json;
import io.espalier.core.loop.state.LiveTasks;
import io.espalier.core.loop.state.LiveTasks.Live;
import io.espalier.core.loop.state.LoopEvents;
import io.espalier.core.loop.state.SlicedWork;
import io.espalier.core.running.Invocation;
import io.espalier.core.running.TaskRunner;
import io.espalier.core.running.Throttle;
import io.espalier.core.scheduling.SchedulingCore;
import io.espalier.core.scheduling.brake.BrakeEffects;
import io.espalier.core.status.store.Brake;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Sets, releases and ends brakes (docs/adr/0067-brakes.md). */
public final class BrakeCommands {
  private static final int MOST = 1_000;

  private final LoopEvents events;
  private final BrakeEffects effects;
  private final BrakeTargets targets;
  private final StartRecalls recalls;
  private final Map<Brake.Key, Brake> brakes = new LinkedHashMap<>();
  private long next = Long.MAX_VALUE;

  /** Whether what the brakes of an earlier process stop is still to be taken back. */
  private boolean isRestored;

  /** Whether a brake tells running tasks how fast to work, and how often that may have changed. */
  private boolean throttles;

  private long throttleChanges;

  /** Receives what must be stored. */
  public interface Changes {
    void put(Brake brake);

    void remove(Brake.Key key);
  }

  /**
   * @param chores does in slices what takes longer
   * @param recalled is called when all that a brake stops has been taken back from the runner
   */
  public BrakeCommands(
      SchedulingCore core,
      LiveTasks live,
      TaskRunner runner,
      LoopEvents events,
      Consumer<SlicedWork> chores,
      Runnable recalled) {
    effects = new BrakeEffects(core);
    targets = new BrakeTargets(core);
    recalls = new StartRecalls(core, targets, live, runner, chores, recalled);
    this.events = events;
  }

  /** Restores brakes after a restart; {@link #configured} brings them into effect. */
  public void restore(List<Brake> stored) {
    stored.forEach(brake -> brakes.put(brake.key(), brake));
    next = 0;
    isRestored = true;
    throttles = stored.stream().anyMatch(Brake::throttlesRunning);
  }

  /**
   * Sets a brake, replacing an older one with the same key. It takes effect at once.
   *
   * @param wanted its bases are ignored, and counted now
   * @return the brake as it must be stored
   * @throws RefusedException when there is nothing of that name, or there are too many brakes
   */
  public Brake set(Brake wanted, long nowMillis) {
    targets.check(wanted.key());
    if (brakes.size() >= MOST && !brakes.containsKey(wanted.key())) {
      throw new RefusedException(
          RefusedException.Reason.CONFLICT,
          "there are " + MOST + " brakes already: release some, or brake a larger part");
    }
    Brake brake =
        wanted
            .with()
            .bases(effects.bases(wanted.key()))
            .sinceMillis(nowMillis)
            .releasedMillis(0)
            .build();
    brakes.put(brake.key(), brake);
    refresh(nowMillis);
    recall(brake, nowMillis);
    said(EventKind.BRAKE_SET, brake, brake.author(), brake.reason(), nowMillis);
    return brake;
  }

  /**
   * Releases a brake: at once, or by its ramp. A release that is under way goes on; another ramp
   * continues from what the brake leaves now.
   *
   * @param ramp replaces that of the brake; null: that of the brake applies
   * @return the brake as it is now; its factor is {@link Brake#ONE} if it is over
   * @throws RefusedException when there is no such brake
   */
  public Brake release(
      Brake.Key key,
      Brake.@Nullable Ramp ramp,
      String author,
      String reason,
      long nowMillis,
      Changes changes) {
    Brake brake = brakes.get(key);
    if (brake == null) {
      throw new RefusedException(
          RefusedException.Reason.UNKNOWN,
          "there is no brake on " + key + (brakes.isEmpty() ? "" : "; there is one on " + names()));
    }
    Brake released = brake;
    if (ramp != null && brake.factorAt(nowMillis) < Brake.ONE) {
      released =
          brake
              .with()
              .millionths(brake.factorAt(nowMillis))
              .ramp(ramp)
              .releasedMillis(nowMillis)
              .build();
    } else if (brake.releasedMillis() == 0) {
      released = brake.withReleasedMillis(nowMillis);
    }
    said(EventKind.BRAKE_RELEASED, released, author, reason, nowMillis);
    store(released, nowMillis, changes);
    refresh(nowMillis);
    return released;
  }

  private void recall(Brake brake, long nowMillis) {
    if (brake.factorAt(nowMillis) == 0) {
      recalls.recall(brake.key());
    } else {
      recalls.forget(brake.key());
    }
  }

  /** The runner has confirmed that it starts none of these any more, unless it had begun. */
  public void recalled(List<Invocation> invocations) {
    recalls.recalled(invocations);
  }

  /** Returns whether every worker has confirmed a brake. */
  public boolean isConfirmed(Brake.Key key) {
    return recalls.isConfirmed(key);
  }

  /** Returns the workers that have not confirmed a brake, by name. */
  public List<String> unconfirmed(Brake.Key key) {
    return recalls.unconfirmed(key);
  }

  /** Returns whether a brake tells running tasks how fast to work. */
  public boolean throttlesRunning() {
    return throttles;
  }

  /** Returns how often what {@link #throttle} returns may have changed. */
  public long throttleChanges() {
    return throttleChanges;
  }

  /** Returns how fast a task may work at most; null: brakes have told it nothing. */
  public @Nullable Throttle throttle(Live task, long nowMillis) {
    // A brake that has ended while no scheduler ran may have told it something.
    Throttle least = task.resumed && throttleChanges > 0 ? Throttle.NONE : null;
    for (Brake brake : throttles ? brakes.values() : List.<Brake>of()) {
      double ratio = (double) brake.factorAt(nowMillis) / Brake.ONE;
      if (brake.throttlesRunning()
          && (least == null || ratio < least.ratio())
          && targets.isBelow(brake.key(), task)) {
        String why = brake.reason().isEmpty() ? "" : ": " + brake.reason();
        least = new Throttle(ratio, "brake on " + brake.key() + why);
      }
    }
    return least;
  }

  private String names() {
    return String.join(", ", brakes.keySet().stream().map(Brake.Key::toString).limit(5).toList());
  }

  private void store(Brake brake, long nowMillis, Changes changes) {
    recalls.forget(brake.key());
    if (brake.factorAt(nowMillis) == Brake.ONE) {
      brakes.remove(brake.key());
      changes.remove(brake.key());
    } else {
      brakes.put(brake.key(), brake);
      changes.put(brake);
    }
  }

  /** Ends brakes whose time has come, and follows the ramps of those that were released. */
  public void step(long nowMillis, Changes changes) {
    if (nowMillis < next) {
      return;
    }
    for (Brake brake : List.copyOf(brakes.values())) {
      Brake released = brake.endedBy(nowMillis);
      if (!released.equals(brake)) {
        said(EventKind.BRAKE_RELEASED, released, "", "the brake was until now", nowMillis);
        store(released, nowMillis, changes);
      } else if (brake.factorAt(nowMillis) == Brake.ONE) {
        store(brake, nowMillis, changes);
      }
    }
    refresh(nowMillis);
  }

  /** When {@link #step} must be called next; {@link Long#MAX_VALUE}: no brake ends by itself. */
  public long nextMillis() {
    return next;
  }

  /** Returns the brakes, in the order in which they were set. */
  public List<Brake> all() {
    return List.copyOf(brakes.values());
  }

  /** Returns the brakes, in the order in which they were set, with what they leave now. */
  public List<BrakeView> view(long nowMillis) {
    return brakes.values().stream()
        .map(
            brake ->
                new BrakeView(
                    brake, brake.factorAt(nowMillis), true, recalls.unconfirmed(brake.key())))
        .toList();
  }

  /** Brings the core in line with the brakes: after each change of the configuration. */
  public void configured(long nowMillis) {
    refresh(nowMillis);
    if (isRestored) {
      isRestored = false;
      brakes.values().forEach(brake -> recall(brake, nowMillis));
    }
  }

  private void refresh(long nowMillis) {
    boolean did = throttles;
    throttles = brakes.values().stream().anyMatch(Brake::throttlesRunning);
    throttleChanges += did || throttles ? 1 : 0;
    next = effects.apply(brakes.values(), nowMillis) ? Long.MAX_VALUE : nowMillis;
    for (Brake brake : brakes.values()) {
      next = Math.min(next, brake.nextMillis(nowMillis));
    }
  }

  /**
   * Completes the key of a node without a level, for a brake that may be set. The node itself may
   * be gone.
   *
   * @throws RefusedException as {@link #located}
   */
  public Brake.Key braked(Brake.Key key) {
    return targets.braked(key, brakes.keySet());
  }

  /**
   * Completes the key of a node without a level.
   *
   * @throws RefusedException when no level, or more than one, has a node of that name
   */
  public Brake.Key located(Brake.Key key) {
    return targets.located(key);
  }

  private void said(EventKind kind, Brake brake, String author, String reason, long nowMillis) {
    Json.Builder event = Json.object().put("target", brake.key().target().word());
    if (!brake.key().level().isEmpty()) {
      event.put("level", brake.key().level());
    }
    if (!brake.key().name().isEmpty()) {
      event.put(brake.key().target().word(), brake.key().name());
    }
    event.put("factor", Brake.decimal(brake.factorAt(nowMillis)).doubleValue());
    if (brake.untilMillis() > 0 && brake.releasedMillis() == 0) {
      event.put("expires_at_ms", brake.untilMillis());
    }
    if (brake.throttlesRunning()) {
      event.put("throttle_running", true);
    }
    if (!author.isEmpty()) {
      event.put("author", author);
    }
    events.add(nowMillis, kind, event.put("reason", reason).build());
  }
}
