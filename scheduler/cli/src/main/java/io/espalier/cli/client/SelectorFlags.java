package io.espalier.cli.client;

import io.espalier.core.json.Json;
import java.util.List;
import picocli.CommandLine.Option;

/** The flags that select tasks of a job. A task must match all given flags. */
final class SelectorFlags {
  @Option(
      names = "--status",
      paramLabel = "STATUS",
      split = ",",
      description = "Tasks in one of these statuses, such as failed or done.")
  private List<String> statuses = List.of();

  @Option(names = "--prefix", paramLabel = "TEXT", description = "Nodes that begin with this.")
  private String prefix = "";

  @Option(
      names = "--node",
      paramLabel = "NODE",
      description = "This node; may be given several times.")
  private List<String> nodes = List.of();

  @Option(
      names = "--fingerprint",
      paramLabel = "TEXT",
      description = "Tasks that failed in this way, as `failures` shows it.")
  private String fingerprint = "";

  @Option(names = "--all", description = "All tasks of the job.")
  private boolean all;

  boolean isEmpty() {
    return !all
        && statuses.isEmpty()
        && prefix.isEmpty()
        && nodes.isEmpty()
        && fingerprint.isEmpty();
  }

  Json.Obj json() {
    Json.Builder selector = Json.object();
    if (!statuses.isEmpty()) {
      selector.put("statuses", array(statuses));
    }
    if (!prefix.isEmpty()) {
      selector.put("prefix", prefix);
    }
    if (!nodes.isEmpty()) {
      selector.put("nodes", array(nodes));
    }
    if (!fingerprint.isEmpty()) {
      selector.put("fingerprint", fingerprint);
    }
    if (all) {
      selector.put("all", Json.Bool.TRUE);
    }
    return selector.build();
  }

  private static Json.Arr array(List<String> texts) {
    return new Json.Arr(texts.stream().<Json>map(Json::of).toList());
  }
}
