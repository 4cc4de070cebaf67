package io.espalier.core.protocol;

import io.espalier.core.pace.Jitter;
import io.espalier.core.running.Progress;
import io.espalier.core.running.ResourceUsage;
import io.espalier.core.running.TaskResult;
import io.espalier.core.running.WorkerRef;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.PriorityQueue;
import org.jspecify.annotations.Nullable;

/**
 * Collects what a worker must report. An end is retained and sent repeatedly, with doubling pauses,
 * until the scheduler acknowledges it as durable. The newest progress of a task is sent again until
 * a report that has it is answered, and with each copy of its end: it is the checkpoint from which
 * the next attempt goes on.
 */
final class ReportOutbox {
  private static final int MOST_ENDS = 500;
  private static final int MOST_SAMPLES = 500;

  private final WorkerRef self;
  private final WorkerOutput out;
  private final Jitter pauses;
  private final Map<RunId, Unsettled> unsettled = new HashMap<>();
  private final PriorityQueue<Due> due =
      new PriorityQueue<>(Comparator.comparingLong(Due::at).thenComparingLong(Due::order));

  /** By running task: what it has said last. */
  private final Map<RunId, Progress> newest = new HashMap<>();

  /** By running task: what the scheduler may not know of it. */
  private final Map<RunId, Progress> untold = new LinkedHashMap<>();

  private final Map<RunId, ResourceUsage> usage = new LinkedHashMap<>();
  private String storeId = "";
  private List<Unsettled> underWay = List.of();
  private List<Report.ProgressOf> progressUnderWay = List.of();
  private boolean waiting;
  private long numbers;
  private long orders;
  private int failures;
  private long notBefore = Long.MIN_VALUE;
  private long samplesNotBefore = Long.MIN_VALUE;

  /** An end that is not acknowledged yet. */
  private static final class Unsettled {
    final TaskResult end;
    final @Nullable Progress progress;
    int copies;

    /** Its valid entry in the queue; 0: it is being sent. */
    long order;

    Unsettled(TaskResult end, @Nullable Progress progress) {
      this.end = end;
      this.progress = progress;
    }
  }

  private record Due(long at, long order, RunId run) {}

  ReportOutbox(WorkerRef self, WorkerOutput out, Jitter pauses) {
    this.self = self;
    this.out = out;
    this.pauses = pauses;
  }

  /** Sets the store to which all reports belong. */
  void storeId(String newStoreId) {
    storeId = newStoreId;
  }

  int unsettled() {
    return unsettled.size();
  }

  boolean holds(RunId run) {
    return unsettled.containsKey(run);
  }

  void ended(RunId run, TaskResult end, long now) {
    untold.remove(run);
    usage.remove(run);
    Unsettled kept = new Unsettled(end, newest.remove(run));
    unsettled.put(run, kept);
    schedule(run, kept, now);
  }

  /** Takes the progress of a task that runs. */
  void progress(RunId run, Progress news) {
    newest.put(run, news.after(newest.get(run)));
    untold.put(run, news.after(untold.get(run)));
  }

  void usage(RunId run, ResourceUsage news) {
    usage.put(run, news);
  }

  void settled(RunId run) {
    unsettled.remove(run);
  }

  /** Sends all ends again at once, because the current scheduler has received none of them. */
  void sendAllAgain(long now) {
    failures = 0;
    notBefore = now;
    due.clear();
    unsettled.forEach(
        (run, kept) -> {
          kept.copies = 0;
          if (kept.order != 0) {
            schedule(run, kept, now);
          }
        });
  }

  private void schedule(RunId run, Unsettled kept, long at) {
    kept.order = ++orders;
    due.add(new Due(at, kept.order, run));
  }

  void answered(ReportResponse answer, ProtocolTimers timers, long now) {
    if (!waiting || answer.number() != numbers) {
      return;
    }
    if (!answer.accepted()) {
      failed(answer.number(), timers, now);
      return;
    }
    answer.settled().forEach(this::settled);
    failures = 0;
    again(timers, now);
  }

  void failed(long number, ProtocolTimers timers, long now) {
    if (!waiting || number != numbers) {
      return;
    }
    for (Report.ProgressOf lost : progressUnderWay) {
      if (newest.containsKey(lost.run())) {
        untold.merge(lost.run(), lost.progress(), Progress::after);
      }
    }
    notBefore = now + pauses.shorten(pause(timers, failures++), Jitter.OF_RETRIES);
    again(timers, now);
  }

  private void again(ProtocolTimers timers, long now) {
    waiting = false;
    for (Unsettled kept : underWay) {
      RunId run = RunId.of(kept.end);
      if (unsettled.get(run) == kept) {
        schedule(run, kept, now + pause(timers, kept.copies++));
      }
    }
    underWay = List.of();
    progressUnderWay = List.of();
  }

  private static long pause(ProtocolTimers timers, int times) {
    return Math.min(timers.reportMaxMillis(), timers.reportFirstMillis() << Math.min(times, 16));
  }

  /**
   * Sends what is due, if no report is unanswered.
   *
   * @return in how many milliseconds there may be something to send
   */
  long step(ProtocolTimers timers, long now) {
    if (waiting) {
      return Long.MAX_VALUE;
    }
    dropStale();
    boolean samples = !untold.isEmpty() || !usage.isEmpty();
    boolean endsDue = !due.isEmpty() && due.element().at() <= now;
    if (now >= notBefore && (endsDue || (samples && now >= samplesNotBefore))) {
      send(timers, now);
      return Long.MAX_VALUE;
    }
    long next = due.isEmpty() ? Long.MAX_VALUE : due.element().at();
    if (samples) {
      next = Math.min(next, samplesNotBefore);
    }
    return next == Long.MAX_VALUE ? next : Math.max(1, Math.max(next, notBefore) - now);
  }

  private void dropStale() {
    while (!due.isEmpty()) {
      Due first = due.element();
      Unsettled kept = unsettled.get(first.run());
      if (kept != null && kept.order == first.order()) {
        return;
      }
      due.remove();
    }
  }

  private void send(ProtocolTimers timers, long now) {
    List<Unsettled> ends = new ArrayList<>();
    while (ends.size() < MOST_ENDS && !due.isEmpty() && due.element().at() <= now) {
      Unsettled kept = unsettled.get(due.element().run());
      if (kept != null && kept.order == due.element().order()) {
        kept.order = 0;
        ends.add(kept);
      }
      due.remove();
    }
    List<Report.ProgressOf> newProgress = new ArrayList<>();
    for (Unsettled kept : ends) {
      if (kept.progress != null) {
        newProgress.add(new Report.ProgressOf(RunId.of(kept.end), kept.progress));
      }
    }
    progressUnderWay =
        untold.entrySet().stream()
            .limit(MOST_SAMPLES - newProgress.size())
            .map(of -> new Report.ProgressOf(of.getKey(), of.getValue()))
            .toList();
    progressUnderWay.forEach(of -> untold.remove(of.run()));
    newProgress.addAll(progressUnderWay);
    List<Report.UsageOf> newUsage = new ArrayList<>();
    for (RunId run : usage.keySet().stream().limit(MOST_SAMPLES).toList()) {
      newUsage.add(new Report.UsageOf(run, Objects.requireNonNull(usage.remove(run))));
    }
    samplesNotBefore = now + timers.reportFirstMillis();
    underWay = ends;
    waiting = true;
    out.send(
        new Report(
            self,
            ++numbers,
            ends.stream().map(kept -> kept.end).toList(),
            newProgress,
            newUsage,
            storeId));
  }
}
