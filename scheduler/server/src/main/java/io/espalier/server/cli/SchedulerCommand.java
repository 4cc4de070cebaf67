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
      "SIGINT and SIGTERM stop it cleanly: tasks are ended, statuses kept.",
      "",
      "Example:",
      "  espalier scheduler --config config-examples/quickstart.json --runner local"
    })
public final class SchedulerCommand implements Callable<Integer> {
  @Option(
      names = "--config",
      paramLabel = "URI",
      required = true,
      description = "File or directory of the configuration; changes are followed.")
  private String config = "";

  @Mixin private final ProcessFlags flags = new ProcessFlags();

  @Override
  public Integer call() throws InterruptedException {
    ProcessOptions options = flags.options(config, false, false, 0);
    try (EspalierProcess process = EspalierProcess.startUntilSignal(options, true)) {
      process.problems().forEach(problem -> System.err.println("espalier: " + problem));
      process.httpUri().ifPresent(uri -> System.err.println("espalier: listening on " + uri));
      process.awaitEnd();
      return ExitCode.OK;
    }
  }
}
