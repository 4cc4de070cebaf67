package io.espalier.cli.client.operate;

import io.espalier.cli.client.Client;
import io.espalier.cli.term.JsonFields;
import io.espalier.core.json.Json;
import io.espalier.webui.v1.ApiV1;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Option;

/** The option {@code --set}: names all jobs of a set in the place of single jobs. */
final class SetOption {
  @Option(names = "--set", paramLabel = "SET", description = "All jobs of this set instead.")
  private String name = "";

  boolean isGiven() {
    return !name.isEmpty();
  }

  String name() {
    return name;
  }

  /** The names of the jobs of the set. */
  List<String> jobs(Client client) {
    Json.Obj set = client.call("GET", ApiV1.SET, Map.of("set", name), Map.of(), Json.Obj.EMPTY);
    return JsonFields.objects(set, "jobs").stream()
        .map(job -> JsonFields.text(job, "name"))
        .toList();
  }

  /** Sends a command for each job of the set, with this body. */
  Json.Obj post(Client client, String action, Json.Obj body) {
    return client.call(
        "POST", ApiV1.SET_ACTION, Map.of("set", name, "action", action), Map.of(), body);
  }
}
