package io.espalier.core.scheduling.query;

import io.espalier.core.api.view.QueueView;
import io.espalier.core.api.view.ResourceUse;
import io.espalier.core.config.Resource;
import io.espalier.core.scheduling.queue.QueueLimit;
import io.espalier.core.scheduling.queue.QueueState;
import io.espalier.core.scheduling.queue.QueueTable;
import io.espalier.core.scheduling.state.SchedulingState;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalDouble;

/** Builds API views of the queues of a scheduling state. */
public final class QueueViews {
  private QueueViews() {}

  /** Returns the queues that are configured, have jobs, or use slots. */
  public static List<QueueView> of(SchedulingState state) {
    QueueTable table = state.queues;
    double[] weights = new double[table.count()];
    double total = 0;
    long[] waiting = new long[table.count()];
    int[] waitingJobs = new int[table.count()];
    for (int q = 0; q < weights.length; q++) {
      for (int job : table.queue(q).jobs) {
        long left = state.jobs.isActive(job) ? state.tasks.remaining(job) : 0;
        waiting[q] += left;
        waitingJobs[q] += left > 0 ? 1 : 0;
      }
      double weight = table.isByWeight() ? table.queue(q).weight() : 1 / table.effective(q);
      weights[q] = waitingJobs[q] > 0 ? weight : 0;
      total += weights[q];
    }
    List<String> configured = QueueTable.names(state.config());
    List<QueueView> views = new ArrayList<>();
    for (int q = 0; q < weights.length; q++) {
      QueueState queue = table.settled(q);
      if (configured.contains(queue.name) || queue.jobs.length > 0 || queue.running > 0) {
        views.add(
            new QueueView(
                queue.name,
                queue.spec().priorityFactor(),
                table.isByWeight() ? OptionalDouble.of(queue.weight()) : OptionalDouble.empty(),
                queue.running,
                queue.jobs.length,
                waitingJobs[q],
                waiting[q],
                queue.usage.use(),
                queue.usage.at(table.now()),
                table.effective(q),
                total > 0 ? weights[q] / total : 0,
                held(state, queue)));
      }
    }
    return views;
  }

  /** Returns what all queues together hold of each resource. */
  static List<ResourceUse> use(SchedulingState state) {
    QueueTable table = state.queues;
    List<ResourceUse> all = new ArrayList<>();
    for (Resource resource : state.config().settings().resources().all()) {
      int r = resource.index();
      long used = 0;
      for (int q = 0; q < table.count(); q++) {
        used += table.settled(q).held[r];
      }
      String level = state.config().settings().levels().name(resource.level());
      all.add(new ResourceUse(level, resource.name(), used, table.total(r)));
    }
    return all;
  }

  private static List<QueueView.Held> held(SchedulingState state, QueueState queue) {
    List<QueueView.Held> all = new ArrayList<>();
    for (Resource resource : state.config().settings().resources().all()) {
      int r = resource.index();
      QueueLimit cap = queue.cap(r);
      if (cap != null || queue.held[r] > 0) {
        all.add(
            new QueueView.Held(
                resource.name(),
                queue.held[r],
                cap == null ? -1 : cap.cap(),
                state.queues.total(r)));
      }
    }
    return all;
  }
}
