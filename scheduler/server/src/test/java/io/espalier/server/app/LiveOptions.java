package io.espalier.server.app;

import io.espalier.core.config.Partition;
import io.espalier.server.app.options.DataDirectoryOwner;
import io.espalier.server.app.options.ProcessOptions;
import io.espalier.server.app.options.RunnerOptions;
import io.espalier.server.app.options.SourceOptions;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;

/** Options of a scheduler that runs tasks and whose store is in a directory of a test. */
final class LiveOptions {
  private LiveOptions() {}

  /** The configuration is {@code site.json} in the directory. */
  static ProcessOptions of(
      Path directory, RunnerOptions.Kind runner, Optional<RunnerOptions.Remote> remote) {
    ProcessOptions plain =
        ProcessOptions.frozen(
            new DataDirectoryOwner("file://" + directory.resolve("site.json"), Partition.WHOLE),
            directory.toString(),
            directory.resolve("data"),
            "here");
    return new ProcessOptions(
        new SourceOptions(
            plain.source().configUri(),
            plain.source().configDirectory(),
            plain.source().shard(),
            plain.source().instanceNodeName(),
            plain.source().hostName(),
            Duration.ofSeconds(15),
            Duration.ofSeconds(1)),
        plain.store(),
        new RunnerOptions(
            runner,
            runner.label(),
            plain.runner().workerCommand(),
            plain.runner().maxAttempts(),
            plain.runner().measuring(),
            plain.runner().simulation(),
            remote),
        plain.http(),
        plain.logs(),
        false,
        false,
        false,
        plain.seed(),
        plain.record());
  }
}
