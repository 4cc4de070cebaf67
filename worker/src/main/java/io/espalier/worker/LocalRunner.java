package io.espalier.worker;

import io.espalier.core.config.task.KillRequest;
import io.espalier.core.logs.LogStore;
import io.espalier.core.protocol.ClockReading;
import io.espalier.core.running.Invocation;
import io.espalier.core.running.LaunchSpec;
import io.espalier.core.running.TaskListener;
import io.espalier.core.running.TaskRunner;
import io.espalier.core.running.Throttle;
import io.espalier.worker.call.CallExecutor;
import io.espalier.worker.process.SupervisorOptions;
import io.espalier.worker.process.TaskLog;
import io.espalier.worker.process.TaskSupervisor;
import io.espalier.worker.resources.HostResourceReader;
import io.espalier.worker.resources.HostResources;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Runs tasks as child processes of the scheduler, or as calls that it makes, without a worker. */
public final class LocalRunner implements TaskRunner {
  private static final Logger log = LoggerFactory.getLogger(LocalRunner.class);

  private final String shard;
  private final TaskSupervisor supervisor;
  private final CallExecutor calls;
  private final Map<String, Long> physical;

  private LocalRunner(
      String shard, TaskSupervisor supervisor, CallExecutor calls, Map<String, Long> physical) {
    this.shard = shard;
    this.supervisor = supervisor;
    this.calls = calls;
    this.physical = physical;
  }

  /**
   * Prepares the data directory and kills every process that an earlier runner left alive there.
   * When this method returns, all of them are dead.
   *
   * @param shard name of the instance node
   * @param logs store for output and events; the runner does not close it
   * @throws IOException naming the path, when the directory cannot be used, another runner uses it,
   *     or a survivor could not be verified to be dead
   */
  public static LocalRunner prepare(String shard, SupervisorOptions options, LogStore logs)
      throws IOException {
    return prepare(shard, options, logs, TaskSupervisor.prepare(options, logs));
  }

  /**
   * Prepares a runner whose processes live only as long as a lease, as {@link
   * TaskSupervisor#prepareLeased} specifies.
   *
   * @throws IOException as {@link #prepare}
   */
  public static LocalRunner prepareLeased(String shard, SupervisorOptions options, LogStore logs)
      throws IOException {
    return prepare(shard, options, logs, TaskSupervisor.prepareLeased(options, logs));
  }

  private static LocalRunner prepare(
      String shard, SupervisorOptions options, LogStore logs, TaskSupervisor supervisor) {
    HostResources host = HostResourceReader.ofThisHost(options.measuring().cards()).read();
    host.notes().forEach(note -> log.warn("{}", note));
    TaskLog log = new TaskLog(logs, options.host(), options.statusForm());
    return new LocalRunner(shard, supervisor, new CallExecutor(log), host.physical());
  }

  /**
   * Extends the lease of a runner that was {@link #prepareLeased}.
   *
   * @param since the instant from which it counts
   */
  public void lease(ClockReading since, long millis) {
    supervisor.lease((since.uptimeMillis() + millis) / 10, since.wallMillis() + millis);
  }

  /** Completes once the leases set before are in force, so that processes can start. */
  public CompletableFuture<Void> leaseInForce() {
    return supervisor.guardAtRest();
  }

  @Override
  public String name() {
    return "local";
  }

  @Override
  public String shard() {
    return shard;
  }

  @Override
  public Map<String, Long> physical() {
    return physical;
  }

  @Override
  public void open(TaskListener ends) {
    calls.open(ends);
    supervisor.open(ends);
  }

  @Override
  public void start(LaunchSpec launch) {
    if (launch.call() == null) {
      supervisor.start(launch);
    } else {
      calls.start(launch);
    }
  }

  @Override
  public void startBatch(List<LaunchSpec> members) {
    supervisor.startBatch(members);
  }

  @Override
  public boolean confirmStarts(boolean wanted) {
    calls.confirmStarts(wanted);
    supervisor.confirmStarts(wanted);
    return true;
  }

  @Override
  public boolean adopt(LaunchSpec launch) {
    calls.adopt(launch);
    return true;
  }

  @Override
  public boolean kill(String job, String node, Invocation invocation, KillRequest how) {
    return calls.kill(job, node, invocation) || supervisor.kill(job, node, invocation, how);
  }

  @Override
  public void letGo(String job, String node, Invocation invocation) {
    boolean unused = calls.letGo(job, node, invocation, CallExecutor.REPORTED);
  }

  @Override
  public boolean recall(List<LaunchSpec> launches) {
    for (LaunchSpec launch : launches) {
      calls.recall(launch.job(), launch.node(), launch.invocation());
      supervisor.recall(launch.job(), launch.node(), launch.invocation());
    }
    // It is decided by now, and what does not begin has its end.
    return false;
  }

  @Override
  public boolean extend(String job, String node, Invocation invocation, long millis) {
    return calls.extend(job, node, invocation, millis)
        || supervisor.extend(job, node, invocation, millis);
  }

  @Override
  public void throttle(String job, String node, Invocation invocation, Throttle throttle) {
    supervisor.throttle(job, node, invocation, throttle);
  }

  /** Returns the supervisor, for samplers and diagnostics. */
  public TaskSupervisor supervisor() {
    return supervisor;
  }

  @Override
  public void close() {
    calls.close();
    supervisor.close();
  }
}
