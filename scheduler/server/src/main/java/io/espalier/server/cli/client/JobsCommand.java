package io.espalier.server.cli.client;

import io.espalier.core.json.Json;
import io.espalier.server.exit.ExitCode;
import io.espalier.webui.v1.ApiV1;
import java.util.Map;
import picocli.CommandLine.Command;

/** {@code jobs}: all jobs and how far they are. */
@Command(
    name = "jobs",
    mixinStandardHelpOptions = true,
    description = "List the jobs and how far they are.")
final class JobsCommand extends OfflineCommand {
  JobsCommand(Clients clients) {
    super(clients);
  }

  @Override
  int run(Client client) {
    Json.Obj body = get(client, ApiV1.JOBS, Map.of(), Map.of());
    if (json()) {
      print(body);
      return ExitCode.OK;
    }
    Table table =
        new Table(
            "JOB",
            "LEVEL",
            "STATE",
            ">DONE",
            ">TOTAL",
            ">%",
            ">RUNNING",
            ">READY",
            "?>BLOCKED",
            ">WAITING",
            ">FAILED");
    for (Json.Obj job : Fields.objects(body, "jobs")) {
      Json.Obj progress = Fields.object(job, "progress");
      long total = Fields.number(progress, "total");
      long done = Fields.number(progress, "done");
      long blocked = Fields.number(progress, "blocked");
      table.row(
          Fields.text(job, "name"),
          Fields.text(job, "level"),
          state(job),
          done,
          total,
          total == 0 ? "-" : 100 * done / total,
          Fields.number(progress, "running"),
          Fields.number(progress, "ready"),
          blocked == 0 ? "" : blocked,
          Fields.number(progress, "waiting"),
          Fields.number(progress, "failed"));
    }
    print(table, "there are no jobs");
    return ExitCode.OK;
  }

  private static String state(Json.Obj job) {
    if (!Fields.isTrue(job, "valid")) {
      return "invalid";
    }
    if (Fields.isTrue(job, "paused")) {
      return "paused";
    }
    if (Fields.isTrue(job, "past_deadline")) {
      return "deadline";
    }
    return Fields.isTrue(job, "enabled") ? "enabled" : "disabled";
  }
}
