package io.espalier.cli.client.operate;

import io.espalier.cli.client.Client;
import io.espalier.cli.client.ClientCommand;
import io.espalier.cli.client.CommandContext;
import io.espalier.cli.client.ListCommand;
import io.espalier.cli.client.ReasonOption;
import io.espalier.cli.term.HumanFormat;
import io.espalier.cli.term.JsonFields;
import io.espalier.cli.term.Table;
import io.espalier.core.json.Json;
import io.espalier.server.ExitCode;
import io.espalier.webui.v1.ApiV1;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** Commands on notifications. */
public final class NotificationCommands {
  private NotificationCommands() {}

  /** {@code notifications}: lists the receivers and what waits for them. */
  @Command(
      name = "notifications",
      mixinStandardHelpOptions = true,
      description = "List the receivers of notifications, and what waits for them.",
      footerHeading = "%nEXAMPLES%n",
      footer = {"  espalier notifications", "  espalier notifications --json"})
  public static final class Notifications extends ListCommand {
    public Notifications(CommandContext clients) {
      super(clients);
    }

    @Override
    public Json.Obj ask(Client client) {
      return get(client, ApiV1.NOTIFICATIONS, Map.of(), Map.of());
    }

    @Override
    public void show(Json.Obj body) {
      Table table =
          new Table("NAME", "STATE", ">WAITING", "~OLDEST", ">SENT", "~LATEST", "SINCE", "ERROR");
      for (Json.Obj notifier : JsonFields.objects(body, "notifiers")) {
        table.row(
            JsonFields.text(notifier, "name"),
            JsonFields.text(notifier, "state"),
            Long.toString(JsonFields.number(notifier, "waiting")),
            HumanFormat.time(JsonFields.number(notifier, "oldest_ms")),
            Long.toString(JsonFields.number(notifier, "sent")),
            HumanFormat.time(JsonFields.number(notifier, "last_sent_ms")),
            HumanFormat.time(JsonFields.number(notifier, "failing_since_ms")),
            JsonFields.text(notifier, "last_error"));
      }
      print(table, "nobody is notified: the settings have no \"notifications\"");
    }
  }

  /** {@code notify test}: sends a test to a receiver. */
  @Command(
      name = "notify",
      mixinStandardHelpOptions = true,
      description = "Send a test notification to a receiver, once and at once.",
      footerHeading = "%nEXAMPLES%n",
      footer = {"  espalier notify test ops"})
  public static final class Notify extends ClientCommand {
    @Parameters(index = "0", paramLabel = "test", description = "The word test.")
    private String action = "";

    @Parameters(index = "1", paramLabel = "NAME", description = "The name of the receiver.")
    private String name = "";

    @Mixin private final ReasonOption reason = new ReasonOption();

    public Notify(CommandContext clients) {
      super(clients);
    }

    @Override
    public int run(Client client) {
      if (!action.equals("test")) {
        throw misuse("the only action is test: espalier notify test NAME");
      }
      Json.Obj how =
          client.call(
              "POST",
              ApiV1.TEST_NOTIFIER,
              Map.of("notifier", name),
              Map.of(),
              reason.body().build());
      boolean sent = JsonFields.isTrue(how, "sent");
      int code =
          answered(
              how,
              sent
                  ? name + " has got it"
                  : name + " has not got it: " + JsonFields.text(how, "error"));
      return sent ? code : ExitCode.FAILED;
    }
  }
}
