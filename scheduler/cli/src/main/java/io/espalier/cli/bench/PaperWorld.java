package io.espalier.cli.bench;

import io.espalier.core.config.Config;
import io.espalier.core.topology.NodeSpec;
import io.espalier.core.topology.Topology;
import io.espalier.core.topology.TopologyBuilder;
import io.espalier.json.JsonReader;
import io.espalier.server.app.Plugins;
import java.util.Objects;

/**
 * The configuration and nodes of a point, created like those of a scheduler: hosts with their
 * databases under the instance node.
 */
record PaperWorld(Config config, Topology topology) {
  private static final String LAST_JOB = "job-z";

  /** Returns the job whose tasks need the resource of the instance node. */
  static String globalJob() {
    return LAST_JOB;
  }

  static PaperWorld of(PaperPoint point, Plugins plugins) {
    Config config = config(point, plugins);
    TopologyBuilder builder = new TopologyBuilder(config.settings().levels(), "instance");
    for (int host = 0; host < point.hosts(); host++) {
      builder.add(NodeSpec.child(1, "host" + host, null));
    }
    for (int host = 0; host < point.hosts(); host++) {
      String parent = "host" + host;
      for (int database = 0; database < PaperPoint.DATABASES_PER_HOST; database++) {
        builder.add(NodeSpec.child(2, "db" + host + '.' + database, parent));
      }
    }
    return new PaperWorld(
        config, Objects.requireNonNull(builder.build(config.settings().nodeOrder()).value()));
  }

  /** Returns the same nodes with the configuration of another point. */
  PaperWorld with(PaperPoint point, Plugins plugins) {
    return new PaperWorld(config(point, plugins), topology);
  }

  private static Config config(PaperPoint point, Plugins plugins) {
    StringBuilder text =
        new StringBuilder("{\"bistro_settings\": {\"nodes\": {\"levels\": [\"host\", \"db\"]},")
            .append(" \"scheduler\": \"")
            // In a round robin with four others, the job would get only a fifth of the starts.
            .append(point.hasGlobalJob() ? "randomized_priority" : "roundrobin")
            .append("\", \"resources\": {");
    if (point.hasGlobalJob()) {
      text.append("\"instance\": {\"global\": {\"default\": 0, \"limit\": ")
          .append(point.globalLimit())
          .append("}}, ");
    }
    text.append("\"host\": {\"slots\": {\"default\": 1, \"limit\": ")
        .append(PaperPoint.HOST_LIMIT)
        .append("}}, \"db\": {\"lock\": {\"default\": 1, \"limit\": 1}}}}");
    int plain = point.hasGlobalJob() ? point.jobs() - 1 : point.jobs();
    for (int job = 0; job < plain; job++) {
      text.append(", \"bistro_job->job-")
          .append((char) ('a' + job))
          .append("\": {\"owner\": \"p\"}");
    }
    if (point.hasGlobalJob()) {
      text.append(", \"bistro_job->")
          .append(LAST_JOB)
          .append("\": {\"owner\": \"p\", \"priority\": 100000, \"resources\": {\"global\": 1}}");
    }
    var read = JsonReader.config().read(text.append('}').toString());
    var parsed = plugins.configParser().parse(Objects.requireNonNull(read.value()));
    if (parsed.hasErrors()) {
      throw new IllegalStateException("the experiment's own configuration: " + parsed.problems());
    }
    return Objects.requireNonNull(parsed.value());
  }
}
