package io.espalier.core.loop.query;

import io.espalier.core.api.RefusedException;
import io.espalier.core.api.view.Explanation;
import io.espalier.core.api.view.Explanation.Kind;
import io.espalier.core.api.view.Explanation.Reason;
import io.espalier.core.api.view.RunningTaskView;
import io.espalier.core.config.Resource;
import io.espalier.core.loop.state.LiveTasks;
import io.espalier.core.loop.state.Throughput;
import io.espalier.core.loop.watch.StartsInFlight;
import io.espalier.core.scheduling.SchedulingCore;
import io.espalier.core.scheduling.query.ResourceHolderScan;
import io.espalier.core.scheduling.query.ResourceHolderScan.Place;
import io.espalier.core.status.TaskKey;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A query that explains why a task does not run, or what runs, and then makes one pass over the
 * running tasks to find the holders of all missing slots.
 */
final class ExplainQuery extends IncrementalQuery<Explanation> {
  /** The approximate cost of evaluating the conditions of one path. */
  private static final int EXPLAINING = 500;

  private final SchedulingCore core;
  private final LiveTasks live;
  private final Throughput throughput;
  private final StartsInFlight starting;
  private final String job;
  private final String node;
  private final String shard;
  private final List<EarliestReleases> picks = new ArrayList<>();
  private @Nullable Explanation explanation;
  private @Nullable ResourceHolderScan scan;

  ExplainQuery(
      SchedulingCore core,
      LiveTasks live,
      Throughput throughput,
      StartsInFlight starting,
      String job,
      String node,
      String shard) {
    this.core = core;
    this.live = live;
    this.throughput = throughput;
    this.starting = starting;
    this.job = job;
    this.node = node;
    this.shard = shard;
  }

  @Override
  long step(long nowMillis, int units) {
    long used = 0;
    try {
      if (scan == null) {
        explanation = explained();
        used += EXPLAINING;
        List<Place> places = places(explanation);
        if (places.isEmpty()) {
          answer.complete(explanation);
          return used;
        }
        scan = core.tasks().holders(places.toArray(new Place[0]));
      }
      int looks = (int) Math.max(1_000, units - used);
      boolean complete = scan.step(looks, new Found(nowMillis));
      used += Math.min(looks, core.running().count() + 1);
      if (!complete) {
        return used;
      }
      // The task may have got its slots meanwhile; a new explanation keeps the answer consistent.
      answer.complete(withHolders(explained()));
    } catch (RefusedException e) {
      answer.completeExceptionally(e);
    }
    return used + EXPLAINING;
  }

  private Explanation explained() {
    Explanation explained = starting.explained(core.tasks().explain(job, node));
    long awaited = explained.startable() ? core.batchAwaitedUntil(explained.job()) : 0;
    if (awaited > 0) {
      Reason wait = Reason.of(Kind.BATCH, null, "the task waits for more tasks of its batch");
      return explained.withReasons(List.of(wait.until(awaited)));
    }
    LiveTasks.Live running = live.get(new TaskKey(explained.job(), explained.node()));
    return running == null ? explained : withRunning(explained, running.view(running.shard(shard)));
  }

  private static Explanation withRunning(Explanation explained, RunningTaskView task) {
    if (task.stopping() == null) {
      return explained.withRunning(task);
    }
    return explained
        .withReasons(
            explained.reasons().stream()
                .map(reason -> reason.withMessage(reason.message() + ", and is being stopped"))
                .toList())
        .withRunning(task);
  }

  private List<Place> places(Explanation explained) {
    List<Place> places = new ArrayList<>();
    for (Reason reason : explained.reasons()) {
      Place place = place(reason);
      if (place != null) {
        places.add(place);
      }
    }
    return places;
  }

  private @Nullable Place place(Reason reason) {
    String at = reason.node();
    String name = reason.resource();
    if (reason.kind() != Kind.RESOURCE || at == null || name == null) {
      return null;
    }
    for (Resource resource : core.config().settings().resources().all()) {
      if (resource.name().equals(name)) {
        return new Place(core.topology().levels().name(resource.level()), at, name);
      }
    }
    return null;
  }

  private Explanation withHolders(Explanation newest) {
    List<Place> scanned = explanation == null ? List.of() : places(explanation);
    List<Reason> reasons = new ArrayList<>();
    for (Reason reason : newest.reasons()) {
      int at = scanned.indexOf(place(reason));
      if (at < 0 || at >= picks.size()) {
        reasons.add(reason);
      } else {
        EarliestReleases pick = picks.get(at);
        long freeAt = pick.freeAt((long) reason.need() - reason.free());
        reasons.add(reason.heldBy(pick.first(Reason.MOST_HOLDERS), pick.total(), freeAt));
      }
    }
    return newest.withReasons(reasons);
  }

  private final class Found implements ResourceHolderScan.Sink {
    private final long now;

    Found(long now) {
      this.now = now;
    }

    @Override
    public void begin() {
      picks.clear();
      int places = explanation == null ? 0 : places(explanation).size();
      for (int i = 0; i < places; i++) {
        picks.add(new EarliestReleases());
      }
    }

    @Override
    public void holds(int place, long run, String resource, int slots) {
      picks.get(place).add(live.ofRun(run), resource, slots, throughput, now);
    }
  }
}
