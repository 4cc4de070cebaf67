package io.espalier.worker.process;

import io.espalier.core.json.Json;
import io.espalier.core.running.TaskResult;
import io.espalier.worker.cgroup.CgroupHost;
import io.espalier.worker.process.spawn.TaskEnvironment;
import io.espalier.worker.resources.MeasuringOptions;
import io.soabase.recordbuilder.core.RecordBuilder;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/**
 * The settings of a task supervisor.
 *
 * @param dataDirectory created when missing; contains {@code jobs/} (working directories) and
 *     {@code running/} (journal, lock, large JSON arguments)
 * @param configDirectory base of a {@code command[0]} that contains a slash but does not begin with
 *     one
 * @param workerCommand argv prefix for jobs without a {@code command}; empty: they fail to start
 * @param host the {@code worker_host} of events
 * @param environment {@link TaskEnvironment} decides which part of it tasks may see
 * @param shutdownWait how long tasks may take to end at close before all of them get a KILL
 * @param mechanism how processes are started
 * @param statusForm the {@code status} object of the event {@code got_status}; an empty object
 *     omits it
 * @param shard the name of this worker in the names of control groups
 * @param cgroups where control groups may be created
 * @param measuring how live tasks and the host are measured
 */
@RecordBuilder
public record SupervisorOptions(
    Path dataDirectory,
    Path configDirectory,
    List<String> workerCommand,
    String host,
    Map<String, String> environment,
    Duration shutdownWait,
    Mechanism mechanism,
    Function<TaskResult, Json.Obj> statusForm,
    String shard,
    CgroupHost cgroups,
    MeasuringOptions measuring)
    implements SupervisorOptionsBuilder.With {

  /** How processes are started. */
  public enum Mechanism {
    /** Native where the platform allows, else the JDK's, with a log line that gives the reason. */
    AUTO,
    /** posix_spawn, epoll and pidfd through JNA; opening fails where they are missing. */
    NATIVE,
    /** {@link ProcessBuilder} and threads. */
    JDK
  }

  public SupervisorOptions {
    workerCommand = List.copyOf(workerCommand);
    environment = Map.copyOf(environment);
  }

  /**
   * Returns the defaults: this process's environment, ten seconds for the shutdown, no status form.
   */
  public static SupervisorOptions of(Path dataDirectory, Path configDirectory) {
    return new SupervisorOptions(
        dataDirectory,
        configDirectory,
        List.of(),
        "localhost",
        System.getenv(),
        Duration.ofSeconds(10),
        Mechanism.AUTO,
        end -> Json.Obj.EMPTY,
        "local",
        CgroupHost.discover(),
        MeasuringOptions.of(System.getenv()));
  }
}
