package io.espalier.cli.client.operate;

import io.espalier.cli.client.Client;
import io.espalier.cli.client.ClientCommand;
import io.espalier.cli.client.CommandContext;
import io.espalier.cli.term.HumanFormat;
import io.espalier.core.json.Json;
import io.espalier.server.ExitCode;
import io.espalier.webui.v1.ApiV1;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code delete-job JOB}: removes a job from the source of the configuration. */
@Command(
    name = "delete-job",
    mixinStandardHelpOptions = true,
    description = {
      "Delete a job where the configuration comes from; all else there stays as it is.",
      "What its tasks have done is not forgotten; save-job --back-to brings it back."
    },
    footerHeading = "%nEXAMPLES%n",
    footer = {"  espalier delete-job backup --reason 'done for good'"})
public final class DeleteJobCommand extends ClientCommand {
  @Parameters(paramLabel = "JOB", description = "Name of the job.")
  private String job = "";

  @Option(
      names = "--version-id",
      paramLabel = "N",
      description = "Only if the job has this version now.")
  private @Nullable Long version;

  @Option(names = "--reason", paramLabel = "TEXT", description = "Why, for the history.")
  private String reason = "";

  public DeleteJobCommand(CommandContext clients) {
    super(clients);
  }

  @Override
  public int run(Client client) {
    Json.Obj deleted =
        client.call(
            "DELETE", ApiV1.JOB, Map.of("job", job), query(version, reason), Json.Obj.EMPTY);
    if (json()) {
      print(deleted);
    } else {
      out().println(HumanFormat.clean(job + " is deleted"));
    }
    return ExitCode.OK;
  }

  static String author() {
    return System.getProperty("user.name", "");
  }

  static Map<String, List<String>> query(@Nullable Long version, String reason) {
    Map<String, List<String>> query = new HashMap<>();
    query.put("author", List.of(author()));
    if (version != null) {
      query.put("version", List.of(version.toString()));
    }
    if (!reason.isEmpty()) {
      query.put("reason", List.of(reason));
    }
    return query;
  }
}
