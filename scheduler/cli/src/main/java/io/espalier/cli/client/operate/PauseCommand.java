package io.espalier.cli.client.operate;

import io.espalier.cli.client.Client;
import io.espalier.cli.client.ClientCommand;
import io.espalier.cli.client.CommandContext;
import io.espalier.cli.client.ReasonOption;
import io.espalier.cli.term.DurationConverter;
import io.espalier.cli.term.HumanFormat;
import io.espalier.core.json.Json;
import io.espalier.server.ExitCode;
import io.espalier.webui.v1.ApiV1;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code pause JOB}: pauses a job, so that none of its tasks starts. */
@Command(
    name = "pause",
    mixinStandardHelpOptions = true,
    description = "Start nothing more of a job until it is resumed; kill nothing.",
    footerHeading = "%nEXAMPLES%n",
    footer = {
      "  espalier pause backup --reason 'the disks are busy'",
      "  espalier pause backup --for 2h"
    })
public final class PauseCommand extends ClientCommand {
  @Parameters(paramLabel = "JOB", description = "Name of the job.")
  private String job = "";

  @Option(
      names = "--for",
      paramLabel = "SPAN",
      converter = DurationConverter.class,
      description = "Resume it after 90s, 5m, 2h, 1d (default: until it is resumed).")
  private @Nullable Long seconds;

  @Mixin private final ReasonOption reason = new ReasonOption();

  public PauseCommand(CommandContext clients) {
    super(clients);
  }

  @Override
  public int run(Client client) {
    Json.Builder asked = reason.body();
    if (seconds != null) {
      asked.put("expires_in_seconds", seconds);
    }
    Json.Obj body = client.call("POST", ApiV1.PAUSE, Map.of("job", job), Map.of(), asked.build());
    if (json()) {
      print(body);
    } else {
      say(
          job
              + " is paused"
              + (seconds == null ? "" : " for " + HumanFormat.duration(seconds * 1000)));
    }
    return ExitCode.OK;
  }
}
