package io.espalier.server.app;

import io.espalier.core.api.SchedulerApi;
import io.espalier.core.json.Json;
import io.espalier.core.logs.LogStore;
import io.espalier.core.protocol.LeadershipTerm;
import io.espalier.core.protocol.SchedulerProtocol;
import io.espalier.core.running.TaskResult;
import io.espalier.core.running.TaskRunner;
import io.espalier.core.status.StatusParser;
import io.espalier.core.status.store.StatusStore;
import io.espalier.core.status.store.StatusStore.Taken;
import io.espalier.json.JsonReader;
import io.espalier.server.Version;
import io.espalier.server.app.options.ProcessOptions;
import io.espalier.server.app.ownership.DirectoryOwner;
import io.espalier.server.app.ownership.Leadership;
import io.espalier.server.app.ownership.StoreOwnership;
import io.espalier.server.remote.RemoteRunner;
import io.espalier.server.replay.Recording;
import io.espalier.server.store.DataDirectory;
import io.espalier.server.store.EpochFile;
import io.espalier.server.store.MemoryStatusStore;
import io.espalier.server.store.jdbc.mysql.MySqlStatusStore;
import io.espalier.server.store.jdbc.sqlite.SqliteDialect;
import io.espalier.webui.WebOptions;
import io.espalier.webui.WebServer;
import io.espalier.webui.http.WebSecurity;
import io.espalier.webui.v1.ServerIdentity;
import io.espalier.worker.DryRunRunner;
import io.espalier.worker.LocalRunner;
import io.espalier.worker.SimulatedRunner;
import io.espalier.worker.process.SupervisorOptions;
import io.espalier.worker.process.os.RunPlace;
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
 * Creates the parts of a scheduler process that depend on its options: the store, the runner, the
 * recording, the web server. The caller owns each of them and closes it.
 */
final class ComponentFactory {
  private static final Logger LOG = LoggerFactory.getLogger(ComponentFactory.class);

  private ComponentFactory() {}

  /**
   * Opens the recording. A second term of the same process gets its own file, so that it does not
   * overwrite the recording of the first.
   */
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
      case SQLITE -> SqliteDialect.open(data.statusFile(), JsonReader::parse);
      case MYSQL -> MySqlStatusStore.open(options.mysql().orElseThrow(), JsonReader::parse);
    };
  }

  /** Describes this scheduler as an applicant for a store that it shares with others. */
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
   * Returns the {@code status} of the event {@code got_status}
   * (docs/design/bistro.md#events-of-a-task).
   */
  private static Json.Obj statusForm(StatusParser statusText, TaskResult end) {
    // The status format of the job is not known here, so the text is parsed as a status line.
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
