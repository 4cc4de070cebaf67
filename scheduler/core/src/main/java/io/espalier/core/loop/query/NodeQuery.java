package io.espalier.core.loop.query;

import io.espalier.core.api.RefusedException;
import io.espalier.core.api.view.Explanation.Reason;
import io.espalier.core.api.view.NodeDetail;
import io.espalier.core.loop.state.LiveTasks;
import io.espalier.core.loop.state.NodeResolver;
import io.espalier.core.loop.state.Throughput;
import io.espalier.core.scheduling.SchedulingCore;
import io.espalier.core.scheduling.query.ResourceHolderScan;
import io.espalier.core.scheduling.query.SubtreeCountScan;
import io.espalier.core.scheduling.reservation.Reservation;
import io.espalier.core.topology.Topology;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A query about one node: counts its subtree, then makes one pass over the running tasks to find
 * the holders of its slots.
 */
final class NodeQuery extends IncrementalQuery<NodeDetail> {
  private final SchedulingCore core;
  private final LiveTasks live;
  private final Throughput throughput;
  private final String level;
  private final String name;

  private @Nullable SubtreeCountScan counts;
  private @Nullable ResourceHolderScan holders;
  private EarliestReleases pick = new EarliestReleases();
  private int node;

  NodeQuery(SchedulingCore core, LiveTasks live, Throughput throughput, String level, String name) {
    this.core = core;
    this.live = live;
    this.throughput = throughput;
    this.level = level;
    this.name = name;
  }

  @Override
  long step(long nowMillis, int units) {
    long used = 0;
    try {
      SubtreeCountScan tasks = counts;
      ResourceHolderScan who = holders;
      if (tasks == null || who == null || tasks.isStale()) {
        Topology topology = core.topology();
        node = NodeResolver.find(topology, level, name);
        tasks = core.tasks().counts(-1, true);
        tasks.begin(topology.slot(node, 0));
        String levelName = topology.levels().name(topology.level(node));
        who =
            core.tasks().holders(new ResourceHolderScan.Place(levelName, topology.name(node), ""));
        counts = tasks;
        holders = who;
      }
      if (!tasks.isDone()) {
        used += tasks.step(units);
      }
      if (tasks.isDone() && used < units) {
        int looks = (int) (units - used);
        used += Math.min(looks, core.running().count() + 1);
        if (who.step(looks, new Found(nowMillis))) {
          answer.complete(detail(tasks, nowMillis));
        }
      }
    } catch (RefusedException e) {
      answer.completeExceptionally(e);
    }
    return used;
  }

  private NodeDetail detail(SubtreeCountScan tasks, long nowMillis) {
    return new NodeDetail(
        nowMillis,
        core.topology(),
        node,
        tasks.leaves(),
        TreePageQuery.slots(core, node),
        pick.first(Reason.MOST_HOLDERS),
        pick.total(),
        tasks.countsByJob(),
        closed(),
        Reservation.shown(core.capacity().reservation(node)));
  }

  /** A gate further up closes the node, too, unless another way leads around it. */
  private List<Reason> closed() {
    Topology topology = core.topology();
    List<Reason> closed = new ArrayList<>(core.capacity().closed(-1, node));
    int at = node;
    while (topology.slotCount(at) == 1 && topology.parent(topology.slot(at, 0)) >= 0) {
      at = topology.parent(topology.slot(at, 0));
      closed.addAll(core.capacity().closed(-1, at));
    }
    return closed;
  }

  private final class Found implements ResourceHolderScan.Sink {
    private final long now;

    Found(long now) {
      this.now = now;
    }

    @Override
    public void begin() {
      pick = new EarliestReleases();
    }

    @Override
    public void holds(int place, long run, String resource, int slots) {
      pick.add(live.ofRun(run), resource, slots, throughput, now);
    }
  }
}
