package io.espalier.core.loop.query;

import io.espalier.core.api.Query;
import io.espalier.core.api.RefusedException;
import io.espalier.core.api.view.TaskPage;
import io.espalier.core.api.view.TaskView;
import io.espalier.core.api.view.WaitingReasons;
import io.espalier.core.config.Job;
import io.espalier.core.loop.state.LiveTasks;
import io.espalier.core.loop.state.NodeResolver;
import io.espalier.core.loop.state.SlicedWork;
import io.espalier.core.scheduling.SchedulingCore;
import io.espalier.core.scheduling.job.StatusFilter;
import io.espalier.core.scheduling.query.WaitReasonScan;
import io.espalier.core.status.Failure;
import io.espalier.core.status.StatusLabel;
import io.espalier.core.status.TaskStatus;
import io.espalier.core.topology.Topology;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** Collects one page of tasks in slices. The cursor of a page is the name of its last node. */
public final class TaskPageQuery implements SlicedWork {
  private static final int LOOKS = 50_000;
  private static final int MATCHES = 2_000;

  /** A page ends after so many, even if it could have more tasks. */
  private static final int LOOKS_FOR_REASONS = 2_000_000;

  /** The main statuses of tasks that wait for nothing: they run, or are over. */
  private static final int NOT_WAITING =
      TaskStatus.Main.RUNNING.bit()
          | TaskStatus.Main.DONE.bit()
          | TaskStatus.Main.FAILED.bit()
          | TaskStatus.Main.CANCELLED.bit();

  private final SchedulingCore core;
  private final LiveTasks live;
  private final String shard;
  private final Query.Tasks query;
  private final CompletableFuture<TaskPage> answer = new CompletableFuture<>();
  private final List<TaskView> found = new ArrayList<>();

  private @Nullable Topology topology;
  private StatusFilter set = StatusFilter.of(bits -> true);
  private int node;

  /** The first node after the cursor. */
  private int first;

  private boolean more;
  private long total;

  /** How many looks the reasons of tasks have cost. */
  private long reasonLooks;

  /** The node below which they are; 0, the instance: all. */
  private int under;

  public TaskPageQuery(SchedulingCore core, LiveTasks live, String shard, Query.Tasks query) {
    this.core = core;
    this.live = live;
    this.shard = shard;
    this.query = query;
  }

  public CompletionStage<TaskPage> answer() {
    return answer;
  }

  @Override
  public boolean step(long nowMillis) {
    try {
      return slice();
    } catch (RefusedException e) {
      answer.completeExceptionally(e);
      return true;
    }
  }

  private boolean slice() {
    int job = core.findJob(query.job());
    Job config = job < 0 ? null : core.job(job);
    if (config == null) {
      throw new RefusedException(RefusedException.Reason.UNKNOWN, "no such job: " + query.job());
    }
    if (topology != core.topology()) {
      topology = core.topology();
      begin(config, topology);
    }
    // What tasks wait for changes from slice to slice.
    WaitReasonScan reasons = query.reason().isEmpty() ? null : core.tasks().waiting(job);
    for (int i = 0; i < MATCHES; i++) {
      if (reasonLooks > LOOKS_FOR_REASONS && !query.counted()) {
        answer.complete(new TaskPage(found, topology.name(node - 1), TaskPage.NOT_COUNTED));
        return true;
      }
      int next = core.tasks().next(job, node, LOOKS, set);
      if (next == -1) {
        complete(query.counted() ? total : TaskPage.NOT_COUNTED);
        return true;
      }
      if (next < 0) {
        node = -2 - next;
        return false;
      }
      node = next + 1;
      if (!isOfCause(job, next) || !isCalled(topology.name(next)) || !isUnder(topology, next)) {
        continue;
      }
      if (reasons != null) {
        reasonLooks += reasons.unitsPerKind();
        i += reasons.unitsPerKind() / 10;
        if (!reasons.kind(next).equals(query.reason())) {
          continue;
        }
      }
      total++;
      if (next < first) {
        continue;
      }
      more = found.size() == query.limit();
      if (!more) {
        found.add(TaskViews.of(core, live, shard, job, config, next));
      } else if (!query.counted()) {
        complete(TaskPage.NOT_COUNTED);
        return true;
      }
    }
    return false;
  }

  private void complete(long all) {
    answer.complete(new TaskPage(found, more ? found.get(found.size() - 1).node() : "", all));
  }

  private boolean isCalled(String name) {
    return name.startsWith(query.nodePrefix()) && name.contains(query.part());
  }

  private boolean isOfCause(int job, int task) {
    if (query.fingerprint().isEmpty()) {
      return true;
    }
    TaskStatus status = core.tasks().status(job, task);
    Failure failure = status == null ? null : status.failure();
    return failure != null && failure.fingerprint().equals(query.fingerprint());
  }

  private boolean isUnder(Topology nodes, int task) {
    if (under == 0 || task == under) {
      return true;
    }
    for (int i = 0; task > under && i < nodes.slotCount(task); i++) {
      if (isUnder(nodes, nodes.parent(nodes.slot(task, i)))) {
        return true;
      }
    }
    return false;
  }

  private void begin(Job config, Topology nodes) {
    found.clear();
    more = false;
    total = 0;
    first = 0;
    reasonLooks = 0;
    under = NodeResolver.find(nodes, query.level(), query.under());
    if (!query.after().isEmpty()) {
      int last = nodes.find(config.level(), query.after());
      if (last < 0) {
        throw new RefusedException(
            RefusedException.Reason.CONFLICT,
            "the node " + query.after() + " of the cursor is gone: start from the first page");
      }
      first = last + 1;
    }
    node = query.counted() ? 0 : first;
    set =
        StatusFilter.of(
            bits ->
                (query.fingerprint().isEmpty() || mayHaveFailed(bits))
                    && (query.reason().isEmpty() || mayWait(bits)));
    if (!query.reason().isEmpty() && !WaitingReasons.KINDS.contains(query.reason())) {
      throw new RefusedException(
          RefusedException.Reason.UNKNOWN, "no such reason: " + query.reason());
    }
    if (!query.statuses().isEmpty()) {
      Set<StatusLabel> labels = EnumSet.noneOf(StatusLabel.class);
      query.statuses().forEach(word -> labels.add(label(word)));
      set = StatusFilter.of(bits -> labels.contains(StatusLabel.of(bits)));
    }
  }

  private static StatusLabel label(String word) {
    return StatusLabel.of(word)
        .orElseThrow(
            () -> new RefusedException(RefusedException.Reason.UNKNOWN, "no such status: " + word));
  }

  private static boolean mayWait(int bits) {
    return (bits & NOT_WAITING) == 0;
  }

  private static boolean mayHaveFailed(int bits) {
    return (bits & (TaskStatus.Main.ERROR.bit() | TaskStatus.Main.FAILED.bit())) != 0;
  }
}
