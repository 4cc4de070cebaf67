package io.espalier.worker;

import static org.awaitility.Awaitility.await;

import io.espalier.core.config.task.KillRequest;
import io.espalier.core.config.task.ProcessAttributes;
import io.espalier.core.config.task.SubprocessOptions.Cgroups;
import io.espalier.core.logs.LogLine.Stream;
import io.espalier.core.logs.LogStore;
import io.espalier.core.running.Invocation;
import io.espalier.core.running.InvocationLimits;
import io.espalier.core.running.LaunchSpec;
import io.espalier.core.running.Progress;
import io.espalier.core.running.ResourceUsage;
import io.espalier.core.running.TaskListener;
import io.espalier.core.running.TaskResult;
import io.espalier.testkit.running.CollectedEnds;
import io.espalier.testkit.running.Launches;
import io.espalier.testkit.running.MemoryLogStore;
import io.espalier.worker.process.LiveTask;
import io.espalier.worker.process.SupervisorOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;

/** A local runner with real processes, and what a test wants to see of them. */
public final class TaskBench implements AutoCloseable {
  public static final KillRequest KILL = new KillRequest(KillRequest.Method.KILL, 0);
  public static final KillRequest TERM = new KillRequest(KillRequest.Method.TERM, 0);

  public final Launches launches = new Launches();
  public final CollectedEnds ends = new CollectedEnds();
  public final Map<Invocation, List<ResourceUsage>> samples = new ConcurrentHashMap<>();
  public final List<Progress> progress = new CopyOnWriteArrayList<>();
  public final LocalRunner runner;
  private final MemoryLogStore memory = new MemoryLogStore();

  private TaskBench(SupervisorOptions options, LogStore store) throws IOException {
    runner = LocalRunner.prepare("instance", options, store);
    runner.open(new Heard());
  }

  private TaskBench(SupervisorOptions options) throws IOException {
    runner = LocalRunner.prepare("instance", options, memory);
    runner.open(new Heard());
  }

  /** Options of a native runner below this directory. */
  public static SupervisorOptions options(Path directory) {
    return SupervisorOptions.of(directory.resolve("data"), directory)
        .withMechanism(SupervisorOptions.Mechanism.NATIVE)
        .withShutdownWait(Duration.ofSeconds(2));
  }

  public static TaskBench open(Path directory) throws IOException {
    return new TaskBench(options(directory));
  }

  public static TaskBench open(SupervisorOptions options) throws IOException {
    return new TaskBench(options);
  }

  /** With a log store of the test's own; {@link #out} and the like see nothing then. */
  public static TaskBench open(SupervisorOptions options, LogStore store) throws IOException {
    return new TaskBench(options, store);
  }

  /** A task that runs the script; node, status path and JSON are $1, $2 and $3. */
  public LaunchSpec sh(String node, String script) {
    return launches.of(node, "/bin/sh", "-c", script, "task");
  }

  public static LaunchSpec with(LaunchSpec launch, InvocationLimits limits) {
    return launch.withLimits(limits);
  }

  public static LaunchSpec with(LaunchSpec launch, Cgroups cgroups) {
    return Launches.with(launch, launch.subprocess().withCgroups(cgroups));
  }

  public static LaunchSpec with(LaunchSpec launch, ProcessAttributes attributes) {
    return Launches.with(launch, launch.subprocess().withAttributes(attributes));
  }

  /** So many lines of output in so many milliseconds. */
  public static LaunchSpec withQuota(LaunchSpec launch, int pollMillis, int lines) {
    return Launches.with(launch, launch.subprocess().withQuota(pollMillis, lines));
  }

  public LaunchSpec start(LaunchSpec launch) {
    runner.start(launch);
    return launch;
  }

  public TaskResult run(LaunchSpec launch) {
    return ends.await(start(launch));
  }

  public boolean kill(LaunchSpec launch, KillRequest how) {
    return runner.kill(launch.job(), launch.node(), launch.invocation(), how);
  }

  public List<String> out(LaunchSpec launch) {
    return memory.texts(Stream.STDOUT, launch.node());
  }

  public List<String> err(LaunchSpec launch) {
    return memory.texts(Stream.STDERR, launch.node());
  }

  public List<String> events(LaunchSpec launch) {
    return memory.texts(Stream.STATUSES, launch.node());
  }

  /** Whether there may be more lines in the log, from now on. */
  public void setRoom(boolean room) {
    memory.setRoom(room);
  }

  public void awaitLine(LaunchSpec launch, String text) {
    await().atMost(Duration.ofMinutes(2)).until(() -> out(launch).contains(text + "\n"));
  }

  /** The number that the task has written as its first line. */
  public long firstNumber(LaunchSpec launch) {
    await().atMost(Duration.ofMinutes(2)).until(() -> !out(launch).isEmpty());
    return Long.parseLong(out(launch).get(0).strip());
  }

  public LiveTask live(LaunchSpec launch) {
    return runner
        .supervisor()
        .task(launch.job(), launch.node(), launch.invocation())
        .orElseThrow(() -> new AssertionError(launch + " does not live"));
  }

  /** What it used; fails when nothing is known. */
  public static ResourceUsage used(TaskResult end) {
    ResourceUsage usage = end.usage();
    if (usage == null) {
      throw new AssertionError("no usage: " + end);
    }
    return usage;
  }

  /** Whether it is gone, or dead and not yet collected by init. */
  public static boolean isDead(long pid) {
    try {
      String stat = Files.readString(Path.of("/proc", Long.toString(pid), "stat"));
      char state = stat.charAt(stat.lastIndexOf(')') + 2);
      return state == 'Z' || state == 'X';
    } catch (IOException e) {
      return true;
    }
  }

  /** What the runner tells. */
  private final class Heard implements TaskListener {
    @Override
    public void ended(TaskResult end) {
      ends.ended(end);
    }

    @Override
    public void progress(String job, String node, Invocation invocation, Progress news) {
      progress.add(news);
    }

    @Override
    public void usage(String job, String node, Invocation invocation, ResourceUsage usage) {
      samples.computeIfAbsent(invocation, i -> new CopyOnWriteArrayList<>()).add(usage);
    }
  }

  @Override
  public void close() {
    runner.close();
  }
}
