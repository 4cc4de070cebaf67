package io.espalier.server.process;

import io.espalier.core.api.SchedulerApi;
import io.espalier.core.json.Json;
import io.espalier.core.logs.LogStore;
import io.espalier.core.protocol.LeadershipTerm;
import io.espalier.core.protocol.SchedulerProtocol;
import io.espalier.core.running.TaskResult;
import io.espalier.core.running.TaskRunner;
import io.espalier.core.status.StatusParser;
import io.espalier.core.status.StatusStore;
import io.espalier.core.status.StatusStore.Taken;
import io.espalier.json.JsonReader;
import io.espalier.server.remote.RemoteRunner;
import io.espalier.server.replay.Recording;
import io.espalier.server.store.DataDirectory;
import io.espalier.server.store.EpochFile;
import io.espalier.server.store.MemoryStatusStore;
import io.espalier.server.store.SqliteStatusStore;
import io.espalier.server.store.mysql.MySqlStatusStore;
import io.espalier.webui.WebOptions;
import io.espalier.webui.WebServer;
import io.espalier.webui.http.WebSecurity;
import io.espalier.webui.v1.ServerIdentity;
import io.espalier.worker.DryRunRunner;
import io.espalier.worker.LocalRunner;
import io.espalier.worker.SimulatedRunner;
import io.espalier.worker.process.RunPlace;
import io.espalier.worker.process.SupervisorOptions;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.function.LongConsumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes the parts of a scheduler process of which its options choose one of several: the store, the
 * runner, the recording, the web server. Each is the caller's, to be closed.
 */
final class ComponentFactory {
  private static final Logger LOG = LoggerFactory.getLogger(ComponentFactory.class);

  private ComponentFactory() {}

  /** A second term of the same process must not write over what the first one recorded. */
  static Recording recording(Path wanted, long epoch, ProcessOptions options, Plugins plugins)
      throws IOException {
    Path file = Files.exists(wanted) ? Path.of(wanted + "." + epoch) : wanted;
    try {
      Recording recording =
          Recording.create(file, options.seed(), plugins.workerSelectors().keySet());
      LOG.info("recording every event and placement to {}", file);
      return recording;
    } catch (IOException e) {
      throw new IOException("cannot record to " + file + ": " + e, e);
    }
  }

  static StatusStore store(ProcessOptions options, DataDirectory data) {
    return switch (options.store()) {
      case MEMORY -> new MemoryStatusStore(new EpochFile(data.epochFile()));
      case SQLITE -> SqliteStatusStore.open(data.statusFile(), JsonReader::parse);
      case MYSQL -> mysql(options);
    };
  }

  /** Who this is for a store that it shares with others. */
  static StoreOwnership.Applicant applicant(
      ProcessOptions options, DataDirectory data, Optional<String> group) {
    String process =
        "the scheduler on host "
            + hostName()
            + " with data directory "
            + data.root()
            + " (process "
            + ProcessHandle.current().pid()
            + group.map(name -> ", of " + name).orElse("")
            + ")";
    return new StoreOwnership.Applicant(
        group.orElseGet(() -> new DirectoryOwner(data.id(), RunPlace.here(data.root())).toString()),
        process,
        options.owning().proof(),
        options.owning().takeOver());
  }

  private static String hostName() {
    try {
      return InetAddress.getLocalHost().getHostName();
    } catch (UnknownHostException e) {
      return "unknown";
    }
  }

  private static StatusStore mysql(ProcessOptions options) {
    MySqlStatusStore store =
        MySqlStatusStore.open(options.mysql().orElseThrow(), JsonReader::parse);
    if (options.fresh()) {
      // Not that of another cluster.
      store.bindSource(options.source());
      store.forgetEverything();
    }
    return store;
  }

  static TaskRunner runner(
      ProcessOptions options,
      DataDirectory data,
      LogStore logs,
      StatusParser statusText,
      Taken taken,
      SchedulerProtocol.Past past,
      Leadership leadership,
      LongConsumer newerEpoch)
      throws IOException {
    String shard = options.instanceNodeName();
    return switch (options.runner()) {
      case DRY_RUN -> new DryRunRunner(shard);
      case SIMULATED ->
          new SimulatedRunner(
              shard,
              options.simulation().meanMillis(),
              options.simulation().failureRate(),
              options.seed());
      case REMOTE -> {
        ProcessOptions.Remote how = options.remote().orElseThrow();
        yield RemoteRunner.listen(
            shard,
            new LeadershipTerm(
                taken.epoch(), taken.storeId(), () -> leadership.remainingMillis() > 0),
            how.timers().outwaiting(taken.earlierLeaseMillis()),
            past,
            new InetSocketAddress(how.thrift().host(), how.thrift().port()),
            how.peer(),
            JsonReader::parse,
            newerEpoch);
      }
      case LOCAL ->
          LocalRunner.prepare(
              shard,
              SupervisorOptions.of(data.root(), Path.of(options.configDirectory()))
                  .withWorkerCommand(options.workerCommand())
                  .withHost(shard)
                  .withMeasuring(options.measuring())
                  .withStatusForm(end -> statusForm(statusText, end)),
              logs);
    };
  }

  /**
   * The {@code status} of the event {@code got_status} (docs/design/bistro.md#events-of-a-task).
   */
  private static Json.Obj statusForm(StatusParser statusText, TaskResult end) {
    // How the job wants its status read is not known here; a status line is a status line.
    return end.rawStatus() == null ? Json.Obj.EMPTY : statusText.read(end.rawStatus()).toJson();
  }

  static WebServer web(
      ProcessOptions options,
      Leadership leadership,
      TaskRunner runner,
      SchedulerApi api,
      PrometheusMeterRegistry metrics,
      WebSecurity security) {
    ProcessOptions.HostPort at = leadership.http(options.http().orElseThrow());
    if (options.access().isInTheClear(at.host())) {
      LOG.warn(
          "tokens of clients travel in the clear to {}: give --tls-cert and --tls-key, or a proxy"
              + " in front of it that speaks TLS",
          at);
    }
    return WebServer.start(
        WebOptions.at(at.host(), at.port())
            .withAllowedHosts(options.access().names(leadership.names()))
            .withSecurity(security)
            .withIdentity(new ServerIdentity(Version.get(), runner.name(), runner.shard())),
        api,
        metrics);
  }
}
