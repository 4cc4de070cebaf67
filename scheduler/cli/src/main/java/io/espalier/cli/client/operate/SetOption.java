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

  /** The set with its jobs, as the server has them. */
  private Json.Obj set(Client client) {
    return client.call("GET", ApiV1.SET, Map.of("set", name), Map.of(), Json.Obj.EMPTY);
  }

  /** The names of the jobs of the set. */
  List<String> jobs(Client client) {
    return JsonFields.objects(set(client), "jobs").stream()
        .map(job -> JsonFields.text(job, "name"))
        .toList();
  }

  /** Returns how many tasks run of the jobs of the set; if none is given, of this job. */
  long running(Client client, String job) {
    Json.Obj all =
        isGiven()
            ? set(client)
            : client.call("GET", ApiV1.JOB, Map.of("job", job), Map.of(), Json.Obj.EMPTY);
    return JsonFields.number(JsonFields.object(all, "progress"), "running");
  }

  /** Sends a command for each job of the set, with this body. */
  Json.Obj post(Client client, String action, Json.Obj body) {
    return client.call(
        "POST", ApiV1.SET_ACTION, Map.of("set", name, "action", action), Map.of(), body);
  }
}
