package io.espalier.cli.client;

import java.nio.file.Path;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** The flag {@code --data-dir} of commands that also work on the data of an ended run. */
public final class DataDirFlag {
  @Option(
      names = "--data-dir",
      paramLabel = "DIR",
      description = "Read what an ended run left in DIR, without a server.")
  private @Nullable Path dataDir;

  /**
   * Opens the directory or a server; a server on the command line takes precedence over a directory
   * in the environment.
   *
   * @throws ParameterException when the command line names both
   */
  Client open(CommandLine line, Client.Opener opener, Function<Client.Opener, Client> theServer) {
    boolean serverNamed =
        Stream.of(TargetFlags.SERVER, TargetFlags.ZOOKEEPER, "--context")
            .anyMatch(line.getParseResult()::hasMatchedOption);
    Path dir = dataDir;
    if (dir != null && serverNamed && line.getParseResult().hasMatchedOption("--data-dir")) {
      throw new ParameterException(line, "--data-dir and a server exclude each other");
    }
    return dir == null || serverNamed ? theServer.apply(opener) : opener.dataDirectory(dir);
  }
}
