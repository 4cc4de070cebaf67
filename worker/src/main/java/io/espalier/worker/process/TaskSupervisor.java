package io.espalier.worker.process;

import io.espalier.core.config.task.KillRequest;
import io.espalier.core.logs.LogStore;
import io.espalier.core.running.Invocation;
import io.espalier.core.running.LaunchSpec;
import io.espalier.core.running.Progress;
import io.espalier.core.running.StopReason;
import io.espalier.core.running.TaskListener;
import io.espalier.core.running.TaskResult;
import io.espalier.core.running.Throttle;
import io.espalier.core.status.JsonDecoder;
import io.espalier.core.status.ProgressParser;
import io.espalier.json.JsonReader;
import io.espalier.worker.cgroup.TaskGroup;
import io.espalier.worker.process.kill.Journal;
import io.espalier.worker.process.kill.JournalKiller;
import io.espalier.worker.process.kill.LeaseGuard;
import io.espalier.worker.process.kill.RecoveryReport;
import io.espalier.worker.process.kill.StrayKiller;
import io.espalier.worker.process.kill.WorkerDirectory;
import io.espalier.worker.process.spawn.JdkProcesses;
import io.espalier.worker.process.spawn.NativeProcesses;
import io.espalier.worker.process.spawn.ProcessBackend;
import io.espalier.worker.process.spawn.TaskUsers;
import io.espalier.worker.resources.MeasuringOptions;
import io.espalier.worker.resources.UsageSampler;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Starts, watches and stops the processes of tasks (docs/design/bistro.md#execution). One thread
 * owns all of them; the public methods only post messages to it, so they never wait for a process.
 * A log store that blocks its callers delays all tasks.
 *
 * <p>Every process leads a session and group of its own, and signals go to the group. No task
 * outlives this process: {@link LeaseGuard} handles its death, {@link #close} a clean end, and
 * {@link #prepare} whatever escaped both.
 */
public final class TaskSupervisor implements AutoCloseable {
  private static final Logger logger = LoggerFactory.getLogger(TaskSupervisor.class);

  private static final Duration KILL_BOUND = Duration.ofSeconds(10);

  private static final KillRequest KILL = new KillRequest(KillRequest.Method.KILL, 0);

  private final SupervisorOptions options;
  private final TaskLog log;
  private final WorkerDirectory directory;
  private final Journal journal;
  private final TaskGuard guard;
  private final ProcessBackend processes;
  private final TaskCgroups groups;
  private final ProcessStarts starts;
  private final SupervisorLoop loop;
  private final StrayKiller sweeper;
  private final JsonDecoder json = JsonReader.strict()::read;
  private final ProgressParser progressText = new ProgressParser(json);
  private final Map<JournalKey, SupervisedTask> known = new ConcurrentHashMap<>();
  private final Map<JournalKey, LaunchSpec> accepted = new ConcurrentHashMap<>();

  /**
   * Tasks that have not begun. The thread that removes one decides: it begins, or it is recalled.
   */
  private final Set<JournalKey> unbegun = ConcurrentHashMap.newKeySet();

  private volatile @Nullable TaskListener listener;
  private volatile boolean confirmsStarts;
  private volatile boolean closing;
  private final StopWaiters stops = new StopWaiters();
  private final TaskHost host = new Host();
  private @Nullable UsageSampler sampler;
  private boolean abandoned;
  private boolean closed;

  private TaskSupervisor(
      SupervisorOptions options,
      LogStore logs,
      WorkerDirectory directory,
      TaskGuard guard,
      ProcessBackend processes) {
    this.options = options;
    this.guard = guard;
    this.log = new TaskLog(logs, options.host(), options.statusForm());
    this.directory = directory;
    this.journal = directory.journal();
    this.processes = processes;
    this.groups = new TaskCgroups(options.cgroups(), options.shard(), journal.seed());
    this.loop = new SupervisorLoop(processes, this::isOver);
    this.starts =
        new ProcessStarts(
            processes,
            new TaskLauncher(options, processes, groups, journal.directory(), journal.cookie()),
            journal,
            new TaskUsers(loop::tell));
    this.sweeper = new StrayKiller(journal.cookie(), loop::tell);
  }

  /**
   * Takes over the data directory and kills what an earlier run left alive. The guard is started
   * with the first task.
   *
   * @throws IOException naming the path, when the directory cannot be used, another process uses
   *     it, or a survivor could not be verified to be dead
   */
  public static TaskSupervisor prepare(SupervisorOptions options, LogStore logs)
      throws IOException {
    return prepare(options, logs, false);
  }

  /**
   * Prepares a supervisor for tasks that live only as long as a lease
   * (docs/design/design.md#clocks-of-a-lease): before the first {@link #lease}, and after the
   * latest one has expired, nothing can start, and the guard kills what runs, even if this process
   * is frozen.
   */
  public static TaskSupervisor prepareLeased(SupervisorOptions options, LogStore logs)
      throws IOException {
    return prepare(options, logs, true);
  }

  private static TaskSupervisor prepare(SupervisorOptions options, LogStore logs, boolean leased)
      throws IOException {
    String limitation = TaskCgroups.limitation(options.cgroups());
    if (!limitation.isEmpty()) {
      // The jobs that ask for limits have a warning each.
      logger.info("{}", limitation);
    }
    WorkerDirectory taken = WorkerDirectory.takeOver(options.dataDirectory());
    Journal journal = taken.journal();
    boolean prepared = false;
    try {
      TaskGuard guard = new TaskGuard(journal, leased);
      ProcessBackend processes =
          mechanism(options.mechanism(), guard.gate(), JournalKiller.starterName(journal.cookie()));
      if (leased) {
        guard.start();
      }
      TaskSupervisor supervisor = new TaskSupervisor(options, logs, taken, guard, processes);
      prepared = true;
      return supervisor;
    } finally {
      if (!prepared) {
        journal.close();
      }
    }
  }

  private static ProcessBackend mechanism(
      SupervisorOptions.Mechanism wanted, @Nullable Path gate, String starterName)
      throws IOException {
    if (wanted == SupervisorOptions.Mechanism.JDK) {
      return new JdkProcesses(gate);
    }
    try {
      return NativeProcesses.open(gate, starterName);
    } catch (IOException e) {
      if (wanted == SupervisorOptions.Mechanism.NATIVE) {
        throw e;
      }
      JdkProcesses fallback = new JdkProcesses(gate);
      logger.warn("tasks are started by {}: {}", fallback.description(), e.getMessage());
      return fallback;
    }
  }

  /** Returns a description, for people, of how processes are started. */
  public String description() {
    return processes.description();
  }

  /**
   * Extends the lease: tasks may live until the earlier of these instants.
   *
   * @param uptimeHundredths as {@code /proc/uptime} counts
   * @param clockMillis epoch milliseconds
   */
  public void lease(long uptimeHundredths, long clockMillis) {
    guard.lease(uptimeHundredths, clockMillis);
  }

  /** Returns why nobody would kill the tasks if this process froze; empty: a guard would. */
  public String guardProblem() {
    return guard.problem();
  }

  /**
   * Returns a future that completes once the guard kills nothing and knows every lease set before.
   */
  public CompletableFuture<Void> guardAtRest() {
    return guard.atRest();
  }

  /** Returns what was found of an earlier run, all of it dead by now. */
  public RecoveryReport recovery() {
    return directory.recovery();
  }

  /**
   * @param newListener receives exactly one end per start, and progress, on the supervisor's
   *     thread, and samples of usage on another; must not block
   */
  public void open(TaskListener newListener) {
    if (listener != null) {
      throw new IllegalStateException("open already");
    }
    listener = newListener;
    loop.start();
    MeasuringOptions how = options.measuring();
    sampler = new UsageSampler(this::tasks, how.cards(), newListener, how.period()).start();
  }

  /**
   * Starts a task; any failure is reported as its end. One that was placed in a batch is told in
   * the way of a batch, even if it is its only task.
   *
   * @throws IllegalStateException before {@link #open}, and for an invocation that is running
   */
  public void start(LaunchSpec launch) {
    startBatch(List.of(launch));
  }

  /**
   * Starts tasks of one batch in one process, or each in its own where processes cannot be told
   * anything while they run.
   *
   * @param members as {@link io.espalier.core.running.TaskRunner#startBatch}
   * @throws IllegalStateException before {@link #open}, and for an invocation that is running; then
   *     none of them is started
   */
  public void startBatch(List<LaunchSpec> members) {
    TaskListener sink = listener;
    if (sink == null) {
      throw new IllegalStateException("not open");
    }
    accept(members);
    // Starts and kills share one queue: a kill must find a task that was started before it.
    Runnable message = () -> begin(members);
    loop.tell(message);
    if (closing && loop.takeBack(message)) {
      for (LaunchSpec member : members) {
        JournalKey key = JournalKey.of(member);
        accepted.remove(key);
        unbegun.remove(key);
        sink.ended(notStarted(key));
      }
    }
  }

  private void accept(List<LaunchSpec> members) {
    for (int i = 0; i < members.size(); i++) {
      JournalKey key = JournalKey.of(members.get(i));
      if (accepted.putIfAbsent(key, members.get(i)) != null) {
        members.subList(0, i).forEach(member -> accepted.remove(JournalKey.of(member)));
        throw new IllegalStateException("this invocation was started before: " + key);
      }
    }
    members.forEach(member -> unbegun.add(JournalKey.of(member)));
  }

  private static TaskResult notStarted(JournalKey key) {
    return key.end(TaskResult.Kind.NOT_STARTED).withMessage("shutting down");
  }

  /**
   * Takes a start back, if it has not begun: it never will, and ends as not started. This is
   * decided when the call returns.
   */
  public void recall(String job, String node, Invocation invocation) {
    // The supervisor's thread, which comes to it later, does not find it and ends it.
    boolean unused = unbegun.remove(new JournalKey(job, node, invocation));
  }

  /** Queues a kill request; returns false when this invocation is unknown, or has ended. */
  public boolean kill(String job, String node, Invocation invocation, KillRequest how) {
    return kill(job, node, invocation, how, StopReason.REQUESTED);
  }

  /**
   * Queues a kill request with a reason that the task's end reports, unless an earlier request had
   * one.
   */
  public boolean kill(
      String job, String node, Invocation invocation, KillRequest how, StopReason reason) {
    return tell(new JournalKey(job, node, invocation), task -> task.kill(how, reason));
  }

  /**
   * Moves the timeout and the deadline of a running task.
   *
   * @return false when it is unknown, has ended, or has neither
   */
  public boolean extend(String job, String node, Invocation invocation, long millis) {
    JournalKey key = new JournalKey(job, node, invocation);
    LaunchSpec launch = accepted.get(key);
    return launch != null
        && (launch.limits().timeoutMillis() > 0 || launch.limits().deadlineMillis() > 0)
        && tell(key, task -> task.extend(millis));
  }

  /** Tells a running task how fast to work, if it is known and has not ended. */
  public void throttle(String job, String node, Invocation invocation, Throttle throttle) {
    boolean unused = tell(new JournalKey(job, node, invocation), task -> task.throttle(throttle));
  }

  private boolean tell(JournalKey key, Consumer<SupervisedTask> message) {
    if (!accepted.containsKey(key)) {
      return false;
    }
    loop.tell(
        () -> {
          SupervisedTask task = known.get(key);
          if (task != null) {
            message.accept(task);
          }
        });
    return true;
  }

  /** Returns the number of tasks that have not ended. */
  public int runningCount() {
    return accepted.size();
  }

  /** Returns all invocations without an end, including those that are about to start. */
  public Set<JournalKey> live() {
    return Set.copyOf(accepted.keySet());
  }

  /** Returns the tasks that have a process, or are being given one. */
  public List<LiveTask> tasks() {
    return known.values().stream().map(LiveTask::new).toList();
  }

  /** Returns one of these tasks. */
  public Optional<LiveTask> task(String job, String node, Invocation invocation) {
    return Optional.ofNullable(known.get(new JournalKey(job, node, invocation))).map(LiveTask::new);
  }

  /**
   * Stops all tasks that are alive now: each in its own way, and after {@code grace} with a KILL if
   * it has not ended. An end is verified: the processes of the task are dead, as far as they can be
   * found.
   *
   * @param bound time limit for everything; at least {@code grace}
   * @return future that completes on the supervisor's thread with the tasks that have not ended
   *     within the bound; empty: all are dead
   */
  public CompletableFuture<Set<JournalKey>> stopAll(
      StopReason reason, Duration grace, Duration bound) {
    CompletableFuture<Set<JournalKey>> answer = new CompletableFuture<>();
    if (listener == null) {
      answer.complete(Set.of());
      return answer;
    }
    loop.tell(
        () -> {
          Runnable bounded = stops.add(known.keySet(), answer);
          List<SupervisedTask> tasks = new ArrayList<>(known.values());
          tasks.forEach(task -> task.kill(task.launch().kill(), reason));
          loop.after(grace.toNanos(), () -> tasks.forEach(task -> task.kill(KILL, reason)));
          loop.after(bound.toNanos(), bounded);
        });
    return answer;
  }

  private boolean isOver() {
    return accepted.isEmpty() || abandoned;
  }

  private void begin(List<LaunchSpec> started) {
    List<LaunchSpec> members = new ArrayList<>(started.size());
    for (LaunchSpec member : started) {
      JournalKey key = JournalKey.of(member);
      boolean recalled = !unbegun.remove(key);
      if (closing || recalled) {
        accepted.remove(key);
        deliver(
            closing
                ? notStarted(key)
                : key.end(TaskResult.Kind.NOT_STARTED).withMessage("it was recalled"));
      } else {
        members.add(member);
      }
    }
    if (!members.isEmpty() && isGuarded(members)) {
      beginProcesses(members);
    }
  }

  /** Starts the guard with the first task; without a guard the tasks end as not started. */
  private boolean isGuarded(List<LaunchSpec> members) {
    try {
      guard.start();
      return true;
    } catch (IOException e) {
      String why = "the guard of the task processes cannot be started: " + e.getMessage();
      for (LaunchSpec member : members) {
        JournalKey key = JournalKey.of(member);
        accepted.remove(key);
        deliver(key.end(TaskResult.Kind.NOT_STARTED).withMessage(why));
      }
      return false;
    }
  }

  private void beginProcesses(List<LaunchSpec> members) {
    if (members.get(0).batch() == 0) {
      RunningTask task = new RunningTask(members.get(0), host);
      known.put(task.key(), task);
      starts.begin(task.process(), List.of());
    } else if (members.size() == 1 || processes.canTell()) {
      RunningBatch batch = new RunningBatch(members, host);
      batch.members().forEach(member -> known.put(member.key(), member));
      starts.begin(batch.process(), members);
    } else {
      members.forEach(member -> beginProcesses(List.of(member)));
    }
  }

  /** Says whether the listener is to be told of each process that was started. Any thread. */
  public void confirmStarts(boolean wanted) {
    confirmsStarts = wanted;
  }

  private void deliver(TaskResult end) {
    TaskListener sink = listener;
    if (sink != null) {
      try {
        sink.ended(end);
      } catch (RuntimeException e) {
        logger.error("nobody took {}", end, e);
      }
    }
  }

  /** What tasks need of us; on our thread. */
  private final class Host implements TaskHost {
    @Override
    public TaskLog log() {
      return log;
    }

    @Override
    public JsonDecoder json() {
      return json;
    }

    @Override
    public ProgressParser progressText() {
      return progressText;
    }

    @Override
    public void after(long nanos, Runnable action) {
      loop.after(nanos, action);
    }

    @Override
    public void sweep(Journal.Entry task, int signal, IntConsumer found) {
      sweeper.request(task, signal, found);
    }

    @Override
    public boolean hasLostLeaseSince(long startTicks) {
      return guard.hasLostLeaseSince(startTicks);
    }

    @Override
    public void started(Journal.Entry process) {
      directory.started(process);
    }

    @Override
    public void confirm(LaunchSpec launch) {
      TaskListener sink = listener;
      if (confirmsStarts && sink != null) {
        sink.started(launch.job(), launch.node(), launch.invocation());
      }
    }

    @Override
    public void groupRemoved(TaskGroup group) {
      directory.groupRemoved(group);
    }

    @Override
    public void progress(JournalKey key, Progress progress) {
      TaskListener sink = listener;
      if (sink != null) {
        try {
          sink.progress(key.job(), key.node(), key.invocation(), progress);
        } catch (RuntimeException e) {
          logger.error("nobody took the progress of {}", key, e);
        }
      }
    }

    @Override
    public void ended(String invocation) {
      starts.ended();
      directory.ended(invocation);
    }

    @Override
    public void ended(JournalKey key, TaskResult end) {
      known.remove(key);
      accepted.remove(key);
      deliver(end);
      stops.ended(key);
    }
  }

  /**
   * Stops every task in its own way, kills what has not ended after the shutdown wait, delivers all
   * ends, kills what earlier tasks have left behind, then returns. Only a process that cannot be
   * killed, because it hangs in the kernel, has no end then; the next start verifies whether it is
   * gone.
   */
  @Override
  public void close() {
    synchronized (this) {
      if (closed) {
        return;
      }
      closed = true;
    }
    closing = true;
    if (sampler != null) {
      sampler.close();
    }
    if (listener != null) {
      Duration wait = options.shutdownWait();
      var unused =
          stopAll(StopReason.SHUTDOWN, wait, wait.plus(KILL_BOUND)).thenRun(() -> abandoned = true);
      loop.close(wait.plus(KILL_BOUND).plusSeconds(5));
    }
    if (accepted.isEmpty()) {
      directory.killLeftBehind();
      processes.close();
      guard.close();
    } else {
      // The guard stays and will try again when this process is gone.
      logger.error("tasks that could not be killed: {}", accepted.keySet());
    }
    starts.close();
    sweeper.close();
    groups.close();
    try {
      journal.close();
    } catch (IOException e) {
      logger.warn("closing the journal: {}", e.getMessage());
    }
  }
}
