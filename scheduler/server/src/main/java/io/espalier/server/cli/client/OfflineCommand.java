package io.espalier.server.cli.client;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** A command that also works on what an ended run left behind (design ruling 19). */
abstract class OfflineCommand extends ClientCommand {
  @Option(
      names = "--data-dir",
      paramLabel = "DIR",
      description = "Read what an ended run left in DIR, without a server.")
  private @Nullable Path dataDir;

  OfflineCommand(Clients clients) {
    super(clients);
  }

  @Override
  Client open(Client.Opener opener) {
    Path dir = dataDir;
    boolean serverNamed = given("--server");
    if (dir != null && serverNamed && given("--data-dir")) {
      throw new ParameterException(
          spec().commandLine(), "--server and --data-dir exclude each other");
    }
    // A server on the command line prevails over a directory in the environment.
    return dir == null || serverNamed ? super.open(opener) : opener.dataDirectory(dir);
  }

  private boolean given(String option) {
    return spec().commandLine().getParseResult().hasMatchedOption(option);
  }
}
