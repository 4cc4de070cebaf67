package io.espalier.server.cli.client;

import io.espalier.core.json.Json;
import io.espalier.webui.v1.ApiV1;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;

/** {@code problems}: what is wrong now. */
@Command(
    name = "problems",
    mixinStandardHelpOptions = true,
    description = "List what is wrong now: with the configuration, node sources, store, workers.",
    footerHeading = "%nEXAMPLES%n",
    footer = {"  espalier problems", "  espalier problems --watch 10"})
final class ProblemsCommand extends OfflineListCommand {
  ProblemsCommand(Clients clients) {
    super(clients);
  }

  @Override
  Json.Obj ask(Client client) {
    return get(client, ApiV1.PROBLEMS, Map.of(), Map.of());
  }

  @Override
  void show(Json.Obj body) {
    List<Json.Obj> errors = Fields.objects(body, "errors");
    List<Json.Obj> problems = Fields.objects(body, "problems");
    for (Json.Obj error : errors) {
      out()
          .println(
              painted(Paint.RED, "error")
                  + Screen.clean(
                      " in "
                          + Fields.text(error, "source")
                          + since(error)
                          + ": "
                          + Fields.text(error, "message")));
    }
    problems.forEach(problem -> say(sentence(problem)));
    if (body.get("config_in_force") != null && !Fields.isTrue(body, "config_in_force")) {
      say("the configuration is not in force: the last good one is");
    }
    if (errors.isEmpty() && problems.isEmpty()) {
      remark("nothing is wrong");
    }
  }

  private static String since(Json.Obj problem) {
    long since = Fields.number(problem, "since_ms");
    return since > 0 ? " since " + Screen.time(since) : "";
  }

  /** One problem of a configuration: where, what, what was expected, what to do. */
  static String sentence(Json.Obj problem) {
    StringBuilder text = new StringBuilder(Fields.text(problem, "severity"));
    String path = Fields.text(problem, "path");
    text.append(path.isEmpty() ? "" : " at " + path);
    if (Fields.number(problem, "line") > 0) {
      text.append(" (line ").append(Fields.number(problem, "line")).append(')');
    }
    text.append(since(problem)).append(": ").append(Fields.text(problem, "message"));
    String value = Fields.text(problem, "value");
    text.append(value.isEmpty() ? "" : " (value: " + value + ")");
    add(text, "; expected: ", Fields.text(problem, "expected"));
    add(text, "; ", Fields.text(problem, "hint"));
    return text.toString();
  }

  private static void add(StringBuilder text, String before, String what) {
    if (!what.isEmpty()) {
      text.append(before).append(what);
    }
  }
}
