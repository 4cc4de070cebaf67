package io.espalier.cli.client.inspect;

import io.espalier.cli.client.Client;
import io.espalier.cli.client.CommandContext;
import io.espalier.cli.client.OfflineListCommand;
import io.espalier.cli.term.AnsiStyle;
import io.espalier.cli.term.HumanFormat;
import io.espalier.cli.term.JsonFields;
import io.espalier.core.json.Json;
import io.espalier.webui.v1.ApiV1;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;

/** {@code problems}: lists the current problems. */
@Command(
    name = "problems",
    mixinStandardHelpOptions = true,
    description = "List what is wrong now: with the configuration, node sources, store, workers.",
    footerHeading = "%nEXAMPLES%n",
    footer = {"  espalier problems", "  espalier problems --watch 10"})
public final class ProblemsCommand extends OfflineListCommand {
  public ProblemsCommand(CommandContext clients) {
    super(clients);
  }

  @Override
  public Json.Obj ask(Client client) {
    return get(client, ApiV1.PROBLEMS, Map.of(), Map.of());
  }

  @Override
  public void show(Json.Obj body) {
    List<Json.Obj> errors = JsonFields.objects(body, "errors");
    List<Json.Obj> problems = JsonFields.objects(body, "problems");
    for (Json.Obj error : errors) {
      out()
          .println(
              painted(AnsiStyle.RED, "error")
                  + HumanFormat.clean(
                      " in "
                          + JsonFields.text(error, "source")
                          + since(error)
                          + ": "
                          + JsonFields.text(error, "message")));
    }
    problems.forEach(problem -> say(sentence(problem)));
    if (body.get("config_in_force") != null && !JsonFields.isTrue(body, "config_in_force")) {
      say("the configuration is not in force: the last good one is");
    }
    if (errors.isEmpty() && problems.isEmpty()) {
      remark("nothing is wrong");
    }
  }

  private static String since(Json.Obj problem) {
    long since = JsonFields.number(problem, "since_ms");
    return since > 0 ? " since " + HumanFormat.time(since) : "";
  }

  /** Formats one problem of a configuration: position, message, expected value, hint. */
  public static String sentence(Json.Obj problem) {
    StringBuilder text = new StringBuilder(JsonFields.text(problem, "severity"));
    String path = JsonFields.text(problem, "path");
    text.append(path.isEmpty() ? "" : " at " + path);
    if (JsonFields.number(problem, "line") > 0) {
      text.append(" (line ").append(JsonFields.number(problem, "line")).append(')');
    }
    text.append(since(problem)).append(": ").append(JsonFields.text(problem, "message"));
    String value = JsonFields.text(problem, "value");
    text.append(value.isEmpty() ? "" : " (value: " + value + ")");
    add(text, "; expected: ", JsonFields.text(problem, "expected"));
    add(text, "; ", JsonFields.text(problem, "hint"));
    return text.toString();
  }

  private static void add(StringBuilder text, String before, String what) {
    if (!what.isEmpty()) {
      text.append(before).append(what);
    }
  }
}
