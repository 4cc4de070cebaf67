package io.espalier.worker.process;

import io.espalier.core.config.task.KillRequest;
import io.espalier.core.json.Json;
import io.espalier.core.json.JsonWriter;
import io.espalier.core.logs.LogLine;
import io.espalier.core.running.LaunchSpec;
import io.espalier.core.running.ResourceUsage;
import io.espalier.core.running.TaskResult;
import io.espalier.core.running.Throttle;
import io.espalier.core.status.ProgressParser;
import io.espalier.core.text.ShortText;
import io.espalier.worker.process.output.BatchPipe;
import io.espalier.worker.process.spawn.ProcessBackend;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Several tasks of one job in one process (docs/batches.md). Each ends with its own result; the
 * last one ends with the process, as a task alone does, so that no process lives without a task.
 * Confined to the supervisor's thread.
 *
 * <p>The process says what becomes of its tasks in lines on its status channel, and is asked to
 * give up one of them by a line on its stdin. Nothing that it says can end a task that it was not
 * given, or one twice, and what it says wrongly is logged at most {@link #REFUSALS_LOGGED} times.
 */
final class RunningBatch implements TaskProcess.Owner {
  private static final int REFUSALS_LOGGED = 20;
  private static final int QUOTED = 200;

  private final TaskHost host;
  private final TaskProcess process;
  private final BatchPipe pipe;
  private final Map<String, BatchMember> members = new LinkedHashMap<>();

  /** Those without an end, in their order. */
  private final Set<BatchMember> live = new LinkedHashSet<>();

  /** Those that have begun and have no end, the latest first. */
  private final Deque<BatchMember> begun = new ArrayDeque<>();

  /** Those with progress that nobody has been told of. */
  private final Set<BatchMember> news = new LinkedHashSet<>();

  private boolean anyBegun;
  private volatile BatchMember current;
  private @Nullable BatchMember culprit;
  private long refusals;

  /**
   * @param launches at least one, each of another node
   */
  RunningBatch(List<LaunchSpec> launches, TaskHost host) {
    this.host = host;
    LaunchSpec first = launches.get(0);
    this.process = new TaskProcess(first, host, this);
    this.pipe = new BatchPipe(process.marks(), this::read);
    for (LaunchSpec launch : launches) {
      BatchMember member = new BatchMember(launch, this, host);
      members.put(launch.node(), member);
      live.add(member);
    }
    this.current = live.iterator().next();
  }

  List<BatchMember> members() {
    return List.copyOf(members.values());
  }

  TaskProcess process() {
    return process;
  }

  /**
   * Returns the task that has begun last and not ended, or else the first that has not ended: that
   * to which output belongs. Safe from any thread.
   */
  BatchMember current() {
    return current;
  }

  /** Returns whether all other tasks have ended. */
  boolean isLast(BatchMember member) {
    return live.size() == 1 && live.contains(member);
  }

  private void choose() {
    BatchMember latest = begun.peek();
    if (latest != null) {
      current = latest;
    } else if (!live.isEmpty()) {
      current = live.iterator().next();
    }
  }

  @Override
  public void started() {
    List.copyOf(live).forEach(BatchMember::started);
  }

  @Override
  public void failed(TaskResult.Kind kind, String cause) {
    List.copyOf(live).forEach(member -> member.failed(kind, cause));
  }

  @Override
  public void wrote() {
    current.sign();
  }

  @Override
  public void status(byte[] bytes, int length) {
    pipe.add(bytes, length);
    tellNews();
  }

  @Override
  public void statusClosed() {
    pipe.close();
    tellNews();
  }

  private void tellNews() {
    news.forEach(BatchMember::tellProgress);
    news.clear();
  }

  /** Tells the process how fast to work: as the slowest of its tasks is to. */
  void throttle() {
    live.stream()
        .map(BatchMember::throttle)
        .min(Comparator.comparingDouble(Throttle::ratio))
        .ifPresent(process::throttle);
  }

  /** Reads one line of the status channel. */
  private void read(String text) {
    Json value = text.startsWith("{") ? host.json().read(text).value() : null;
    if (!(value instanceof Json.Obj line) || !(line.get("node") instanceof Json.Str node)) {
      refuse("not a JSON object with a node", text);
      return;
    }
    BatchMember member = members.get(node.value());
    if (member == null) {
      refuse("a node that is not in this batch", text);
    } else if (member.hasReported()) {
      refuse("a node whose task has ended", text);
    } else if (line.get("status") != null) {
      member.begin();
      member.report(line);
    } else if (Json.Bool.TRUE.equals(line.get("started"))) {
      member.begin();
    } else {
      ProgressParser.Reading reading = ProgressParser.read(line, text);
      if (reading.isStatus()) {
        refuse("neither started, progress, count nor status", text);
      } else {
        member.begin();
        member.progress(reading);
        news.add(member);
      }
    }
  }

  private void refuse(String why, String line) {
    refusals++;
    if (refusals <= REFUSALS_LOGGED) {
      event("line_refused", Json.object().put("message", why + ": " + ShortText.cut(line, QUOTED)));
    }
  }

  /** A task has begun. */
  void begins(BatchMember member) {
    anyBegun = true;
    begun.push(member);
    choose();
  }

  /** A task has ended before its process. */
  void ends(BatchMember member) {
    tellNews();
    live.remove(member);
    begun.remove(member);
    choose();
    if (member.throttle().ratio() < 1) {
      throttle();
    }
    killIfAllAre();
  }

  /** The last task has its result: the process is told that nothing is left to do. */
  void lastHasReported() {
    process.tellEnd();
  }

  @Override
  public void line(LogLine.Stream stream, String text) {
    BatchMember member = current;
    if (stream == LogLine.Stream.STDERR) {
      member.error(text);
    }
    host.log().line(stream, member.key(), text);
  }

  @Override
  public void event(String name, Json.Builder about) {
    host.log().event(current.key(), name, about.build());
  }

  /**
   * Stops one task. A line that asks the process to give it up replaces TERM; KILL, and every
   * signal once all tasks are to be stopped, is for the process.
   */
  void kill(BatchMember member, KillRequest how) {
    if (how.method() == KillRequest.Method.KILL) {
      killFor(member, how);
      return;
    }
    if (killIfAllAre()) {
      return;
    }
    if (process.hasStarted()) {
      cancel(member);
    }
    if (how.method() == KillRequest.Method.TERM_WAIT_KILL) {
      host.after(
          Math.max(0, how.waitMillis()) * 1_000_000L,
          () -> {
            if (live.contains(member)) {
              killFor(member, how);
            }
          });
    }
  }

  /** Asks the process to give up a task. */
  void cancel(BatchMember member) {
    boolean unused =
        process.tell(JsonWriter.compact(Json.object().put("cancel", member.key().node()).build()));
  }

  /** Kills the process, and so all tasks, because of one. */
  private void killFor(BatchMember member, KillRequest how) {
    culprit = culprit == null ? member : culprit;
    process.kill(how);
  }

  /** Kills the process as all its tasks are to be killed; returns false when not all are. */
  private boolean killIfAllAre() {
    if (live.isEmpty() || live.stream().anyMatch(member -> member.killed() == null)) {
      return false;
    }
    for (BatchMember member : live) {
      KillRequest how = member.killed();
      if (how != null) {
        process.kill(how);
      }
    }
    return true;
  }

  /** Returns why the process was killed for the sake of another task; null: it was not. */
  @Nullable String killedBecauseOf(BatchMember member) {
    BatchMember other = culprit;
    return other == null || other == member
        ? null
        : "its process was killed together with the task on " + other.key().node();
  }

  @Override
  public void over(ProcessBackend.Exit how, ResourceUsage used) {
    if (refusals > REFUSALS_LOGGED) {
      event(
          "line_refused",
          Json.object().put("message", (refusals - REFUSALS_LOGGED) + " further lines"));
    }
    // Tasks that have not begun have failed only if none has begun: then the program is broken.
    boolean broken = !anyBegun && !process.isSignalled();
    List<BatchMember> left = new ArrayList<>(live);
    live.clear();
    for (BatchMember member : left) {
      boolean last = member == left.get(left.size() - 1);
      member.over(how, last ? used : null, broken);
    }
  }
}
