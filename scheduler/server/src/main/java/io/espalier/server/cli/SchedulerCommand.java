package io.espalier.server.cli;

import io.espalier.server.exit.ExitCode;
import io.espalier.server.process.EspalierProcess;
import io.espalier.server.process.ProcessOptions;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code espalier scheduler}: the daemon. */
@Command(
    name = "scheduler",
    mixinStandardHelpOptions = true,
    description = "Run the scheduler until it is stopped, following its configuration.",
    footer = {
      "",
      "SIGINT and SIGTERM stop it cleanly: statuses are kept, local tasks are ended; those of remote",
      "workers go on, and the next start takes them over.",
      "",
      "Example:",
      "  espalier scheduler --config config-examples/quickstart.json --runner local",
      "  espalier scheduler --config config-examples/remote.json --thrift 127.0.0.1:6789"
    })
public final class SchedulerCommand implements Callable<Integer> {
  @Option(
      names = "--config",
      paramLabel = "URI",
      required = true,
      description = "File or directory of the configuration; changes are followed.")
  private String config = "";

  @Mixin private final ProcessFlags flags = new ProcessFlags();
  @Mixin private final RemoteFlags remote = new RemoteFlags();

  @Override
  public Integer call() throws InterruptedException {
    ProcessOptions options = flags.options(config, false, false, 0, remote);
    try (EspalierProcess process = EspalierProcess.startUntilSignal(options, true)) {
      process.problems().forEach(problem -> System.err.println("espalier: " + problem));
      process
          .thriftAddress()
          .ifPresent(address -> System.err.println("espalier: workers are expected at " + address));
      process.httpUri().ifPresent(uri -> System.err.println("espalier: listening on " + uri));
      process.awaitEnd();
      return ExitCode.OK;
    }
  }
}
