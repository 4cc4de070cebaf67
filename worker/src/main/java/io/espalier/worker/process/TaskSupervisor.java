package io.espalier.worker.process;

import io.espalier.core.config.KillRequest;
import io.espalier.core.json.Json;
import io.espalier.core.json.JsonWriter;
import io.espalier.core.logs.LogLine;
import io.espalier.core.logs.LogStore;
import io.espalier.core.running.Invocation;
import io.espalier.core.running.Launch;
import io.espalier.core.running.TaskEnd;
import io.espalier.core.running.TaskListener;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Starts, watches and stops the processes of tasks (behaviour section 7). One thread owns all of
 * them; the public methods only leave it messages, so they never wait for a process. A log store
 * that blocks its callers holds up all tasks.
 *
 * <p>Every process leads a session and group of its own, and signals go to the group, whatever
 * {@code process_group_leader} says. Nothing of it outlives this process: see {@link Guard} for
 * death, {@link #close} for a clean end, {@link #prepare} for what escaped both.
 */
public final class TaskSupervisor implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(TaskSupervisor.class);

  private static final Duration SURVIVORS_BOUND = Duration.ofSeconds(10);
  private static final Duration KILL_BOUND = Duration.ofSeconds(10);

  /** Between two looks at what the processes do. */
  private static final int MESSAGES_PER_TURN = 32;

  private final SupervisorOptions options;
  private final LogStore logs;
  private final Journal journal;
  private final Guard guard;
  private final Processes processes;
  private final int capacity;
  private final Path runningDirectory;
  private final TaskEnvironment environment;
  private final Thread thread;
  private final Map<TaskKey, RunningTask> known = new ConcurrentHashMap<>();
  private final Queue<Runnable> messages = new ConcurrentLinkedQueue<>();
  private final PriorityQueue<Timer> timers = new PriorityQueue<>();
  private final Map<String, Path> jobDirectories = new HashMap<>();
  private final Set<TaskKey> accepted = ConcurrentHashMap.newKeySet();
  private volatile @Nullable TaskListener ends;
  private volatile boolean closing;
  private boolean abandoned;
  private boolean closed;
  private long timerSequence;
  private long fileSequence;

  private record Timer(long atNanos, long sequence, Runnable action) implements Comparable<Timer> {
    @Override
    public int compareTo(Timer other) {
      int byTime = Long.compare(atNanos - other.atNanos, 0);
      return byTime != 0 ? byTime : Long.compare(sequence, other.sequence);
    }
  }

  private TaskSupervisor(
      SupervisorOptions options, LogStore logs, Journal journal, Guard guard, Processes processes) {
    this.options = options;
    this.logs = logs;
    this.journal = journal;
    this.guard = guard;
    this.processes = processes;
    this.capacity = processes.capacity();
    this.runningDirectory = journal.directory();
    this.environment = new TaskEnvironment(options.environment());
    this.thread = new Thread(this::run, "task-supervisor");
    thread.setDaemon(true);
  }

  /**
   * Takes the data directory, kills what an earlier run left alive, starts the guard.
   *
   * @throws IOException naming the path, when the directory cannot be used, another process uses
   *     it, or a survivor could not be verified to be gone
   */
  public static TaskSupervisor prepare(SupervisorOptions options, LogStore logs)
      throws IOException {
    return prepare(options, logs, false);
  }

  /**
   * The same for tasks that live only as long as a lease does (ruling 2): before the first {@link
   * #lease}, and after the end of the latest, nothing can be started, and what runs is killed by
   * the guard, also when this process is frozen.
   */
  public static TaskSupervisor prepareLeased(SupervisorOptions options, LogStore logs)
      throws IOException {
    return prepare(options, logs, true);
  }

  private static TaskSupervisor prepare(SupervisorOptions options, LogStore logs, boolean leased)
      throws IOException {
    Path running = options.dataDirectory().resolve("running").toAbsolutePath();
    Journal journal;
    try {
      Files.createDirectories(options.dataDirectory().resolve("jobs"));
      journal = Journal.lock(running);
    } catch (IOException e) {
      throw new IOException(
          "cannot use the data directory " + options.dataDirectory() + ": " + e.getMessage(), e);
    }
    Guard guard = null;
    try {
      int killed = Survivors.killAll(journal.left(), SURVIVORS_BOUND);
      if (killed > 0) {
        log.warn("killed {} processes of tasks that an earlier run had left behind", killed);
      }
      removeOldFiles(running);
      journal.begin();
      Path gate = running.resolve("lease");
      Files.deleteIfExists(gate);
      Processes processes = mechanism(options.mechanism(), leased ? gate : null);
      guard = Guard.start(journal.file(), journal.cookie(), gate);
      return new TaskSupervisor(options, logs, journal, guard, processes);
    } finally {
      if (guard == null) {
        journal.close();
      }
    }
  }

  private static Processes mechanism(SupervisorOptions.Mechanism wanted, @Nullable Path gate)
      throws IOException {
    if (wanted == SupervisorOptions.Mechanism.JDK) {
      return new JdkProcesses(gate);
    }
    try {
      return NativeProcesses.open(gate);
    } catch (IOException e) {
      if (wanted == SupervisorOptions.Mechanism.NATIVE) {
        throw e;
      }
      JdkProcesses fallback = new JdkProcesses(gate);
      log.warn("tasks are started by {}: {}", fallback.description(), e.getMessage());
      return fallback;
    }
  }

  private static void removeOldFiles(Path running) throws IOException {
    try (DirectoryStream<Path> files = Files.newDirectoryStream(running, "*.{json,status}")) {
      for (Path file : files) {
        Files.deleteIfExists(file);
      }
    }
  }

  /** How processes are started, for people. */
  public String description() {
    return processes.description();
  }

  /** The guard process; for diagnostics. */
  public long guardPid() {
    return guard.pid();
  }

  /**
   * Prolongs the lease: tasks may live until one of these instants comes.
   *
   * @param uptimeHundredths as {@code /proc/uptime} counts
   * @param clockMillis epoch milliseconds
   */
  public void lease(long uptimeHundredths, long clockMillis) {
    guard.lease(uptimeHundredths, clockMillis);
  }

  /** Completes once the guard kills nothing and knows every lease that it was told of before. */
  public CompletableFuture<Void> guardAtRest() {
    return guard.sync();
  }

  /**
   * @param newEnds gets exactly one end per start, on the supervisor's thread; must not block
   */
  public void open(TaskListener newEnds) {
    if (ends != null) {
      throw new IllegalStateException("open already");
    }
    ends = newEnds;
    thread.start();
  }

  /**
   * Starts a task; what goes wrong with it is its end.
   *
   * @throws IllegalStateException before {@link #open}, and for an invocation that is running
   */
  public void start(Launch launch) {
    TaskListener sink = ends;
    if (sink == null) {
      throw new IllegalStateException("not open");
    }
    TaskKey key = TaskKey.of(launch);
    if (!accepted.add(key)) {
      throw new IllegalStateException("this invocation was started before: " + key);
    }
    // Starts and kills share one queue: a kill must find what was started before it.
    Runnable message = () -> begin(launch);
    messages.add(message);
    if (closing && messages.remove(message)) {
      accepted.remove(key);
      sink.ended(notStarted(key));
    }
    processes.wakeUp();
  }

  private static TaskEnd notStarted(TaskKey key) {
    return key.end(TaskEnd.Kind.NOT_STARTED, null, null, null, "shutting down");
  }

  /** Queues a request; false when this invocation is not known, or has ended. */
  public boolean kill(String job, String node, Invocation invocation, KillRequest how) {
    TaskKey key = new TaskKey(job, node, invocation);
    if (!accepted.contains(key)) {
      return false;
    }
    tell(
        () -> {
          RunningTask task = known.get(key);
          if (task != null) {
            task.kill(how);
          }
        });
    return true;
  }

  private void tell(Runnable message) {
    messages.add(message);
    processes.wakeUp();
  }

  /** Tasks that have not ended. */
  public int runningCount() {
    return accepted.size();
  }

  private void run() {
    while (true) {
      readMessages();
      runTimers();
      if (closing && (accepted.isEmpty() || abandoned) && messages.isEmpty()) {
        return;
      }
      try {
        processes.await(waitNanos());
      } catch (RuntimeException e) {
        log.error("while watching tasks", e);
      }
    }
  }

  private void readMessages() {
    for (int i = 0; i < MESSAGES_PER_TURN; i++) {
      Runnable message = messages.poll();
      if (message == null) {
        return;
      }
      guarded(message);
    }
  }

  private void runTimers() {
    long now = System.nanoTime();
    for (Timer next = timers.peek();
        next != null && next.atNanos() - now <= 0;
        next = timers.peek()) {
      timers.poll();
      guarded(next.action());
    }
  }

  private long waitNanos() {
    if (!messages.isEmpty()) {
      return 0;
    }
    Timer next = timers.peek();
    return next == null ? -1 : Math.max(0, next.atNanos() - System.nanoTime());
  }

  /** A mistake in the handling of one task must not end the watch over all others. */
  private static void guarded(Runnable action) {
    try {
      action.run();
    } catch (RuntimeException e) {
      log.error("while supervising a task", e);
    }
  }

  private void begin(Launch launch) {
    TaskKey key = TaskKey.of(launch);
    if (closing) {
      accepted.remove(key);
      deliver(notStarted(key));
      return;
    }
    Path statusFile = runningDirectory.resolve(++fileSequence + ".status");
    String statusPath = processes.statusPath(statusFile);
    JsonArgument json =
        new JsonArgument(
            JsonWriter.compact(launch.argument()),
            runningDirectory.resolve(fileSequence + ".json"));
    List<String> command = launch.command().isEmpty() ? options.workerCommand() : launch.command();
    RunningTask task = new RunningTask(launch, command, json, this);
    known.put(key, task);
    if (known.size() > capacity) {
      task.fail(
          TaskEnd.Kind.NOT_STARTED,
          capacity + " tasks run, more are not possible with this limit of open files (ulimit -n)");
      return;
    }
    Processes.Spawn spawn;
    try {
      if (command.isEmpty()) {
        throw new IOException("the job has no command, and there is no worker command");
      }
      Path program =
          CommandLine.resolve(command.get(0), options.configDirectory(), environment.path());
      List<String> argv = CommandLine.argv(launch, command, statusPath, json);
      task.setArgv(argv);
      spawn =
          new Processes.Spawn(
              program,
              argv,
              environment.of(launch, journal.cookie(), statusPath),
              jobDirectory(launch.job()),
              launch.subprocess().useCanaryPipe(),
              statusFile);
      journal.starting(TaskEnvironment.invocationId(launch));
    } catch (FileSystemException e) {
      task.fail(TaskEnd.Kind.START_FAILED, "cannot use " + e.getFile() + ": " + reason(e));
      return;
    } catch (IOException | IllegalArgumentException e) {
      task.fail(TaskEnd.Kind.START_FAILED, String.valueOf(e.getMessage()));
      return;
    }
    processes.spawn(spawn, task);
  }

  private static String reason(FileSystemException e) {
    return e.getReason() == null ? e.getClass().getSimpleName() : e.getReason();
  }

  private Path jobDirectory(String job) throws IOException {
    Path directory =
        jobDirectories.computeIfAbsent(
            job,
            name ->
                options
                    .dataDirectory()
                    .resolve("jobs")
                    .resolve(FileNames.encode(name))
                    .toAbsolutePath());
    if (!Files.isDirectory(directory)) {
      Files.createDirectories(directory);
    }
    return directory;
  }

  void journalStarted(RunningTask task, long startTicks) {
    try {
      journal.started(
          TaskEnvironment.invocationId(task.launch()),
          task.pid(),
          startTicks,
          task.launch().subprocess().parentDeathSignal());
    } catch (IOException e) {
      log.warn("cannot note the start of {}: {}", task.key(), e.getMessage());
    }
  }

  void after(long nanos, Runnable action) {
    timers.add(new Timer(System.nanoTime() + nanos, timerSequence++, action));
  }

  void log(LogLine.Stream stream, TaskKey key, String text) {
    try {
      logs.append(stream, key.job(), key.node(), System.currentTimeMillis(), text);
    } catch (RuntimeException e) {
      log.error("the task log does not take a line of {}: {}", key, e.getMessage());
    }
  }

  void event(TaskKey key, String name, Json.Obj about) {
    Json.Builder event =
        Json.object()
            .put("event", name)
            .put("worker_host", options.host())
            .put("invocation_start_time", key.invocation().startMillis() / 1000)
            .put("invocation_rand", key.invocation().sequence())
            .put("invocation", key.invocation().token());
    about.members().forEach(event::put);
    log(LogLine.Stream.STATUSES, key, JsonWriter.compact(event.build()));
  }

  Json.Obj statusForm(TaskEnd end) {
    try {
      return options.statusForm().apply(end);
    } catch (RuntimeException e) {
      log.error("no form for the status of {}", end, e);
      return Json.Obj.EMPTY;
    }
  }

  /** Kills everything that belongs to the task, wherever it has gone. */
  void sweep(RunningTask task) {
    Journal.Entry entry =
        new Journal.Entry(
            TaskEnvironment.invocationId(task.launch()), task.pid(), task.startTicks());
    for (long pid : Survivors.find(new Journal.Left(journal.cookie(), "", List.of(entry)))) {
      log.info("process {} of {} had left its group and is killed", pid, task.key());
      Signals.process(pid, KillPlan.KILL);
    }
  }

  void ended(RunningTask task, TaskEnd end) {
    try {
      journal.ended(TaskEnvironment.invocationId(task.launch()));
    } catch (IOException e) {
      log.warn("cannot note the end of {}: {}", task.key(), e.getMessage());
    }
    known.remove(task.key());
    accepted.remove(task.key());
    deliver(end);
  }

  private void deliver(TaskEnd end) {
    TaskListener sink = ends;
    if (sink != null) {
      try {
        sink.ended(end);
      } catch (RuntimeException e) {
        log.error("nobody took {}", end, e);
      }
    }
  }

  /**
   * Stops every task in its own way, kills what has not ended after the shutdown wait, delivers all
   * ends, then returns. Only a process that cannot be killed (it hangs in the kernel) has no end
   * then: whether it is gone is for the next start to verify.
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
    if (ends != null) {
      tell(this::stopAll);
      try {
        thread.join(options.shutdownWait().plus(KILL_BOUND).plusSeconds(5).toMillis());
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
    if (accepted.isEmpty()) {
      processes.close();
      guard.close();
    } else {
      // The guard stays and will try again when this process is gone.
      log.error("tasks that could not be killed: {}", accepted);
    }
    try {
      journal.close();
    } catch (IOException e) {
      log.warn("closing the journal: {}", e.getMessage());
    }
  }

  private void stopAll() {
    List<RunningTask> tasks = new ArrayList<>(known.values());
    tasks.forEach(task -> task.kill(task.launch().kill()));
    long wait = options.shutdownWait().toNanos();
    KillRequest kill = new KillRequest(KillRequest.Method.KILL, 0);
    after(wait, () -> new ArrayList<>(known.values()).forEach(task -> task.kill(kill)));
    after(wait + KILL_BOUND.toNanos(), () -> abandoned = true);
  }

  /** The JSON argument, as text, and as a file when somebody needs one. */
  static final class JsonArgument implements CommandLine.Argument {
    private final String text;
    private final Path file;
    private boolean written;

    JsonArgument(String text, Path file) {
      this.text = text;
      this.file = file;
    }

    @Override
    public String text() {
      return text;
    }

    @Override
    public Path file() throws IOException {
      if (!written) {
        Files.writeString(file, text);
        written = true;
      }
      return file;
    }

    void delete() {
      if (written) {
        try {
          Files.deleteIfExists(file);
        } catch (IOException e) {
          log.debug("left behind until the next start: {}", file, e);
        }
      }
    }
  }
}
