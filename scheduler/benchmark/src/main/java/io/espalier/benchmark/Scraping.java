package io.espalier.benchmark;

import io.espalier.core.config.Config;
import io.espalier.core.topology.NodeSpec;
import io.espalier.core.topology.Topology;
import io.espalier.core.topology.TopologyBuilder;
import io.espalier.json.JsonReader;
import io.espalier.server.app.Plugins;
import java.util.Objects;

/**
 * The shape of Bistro's own {@code db_scraping_benchmark}: hosts with 25 databases each; two tasks
 * at a time on a host, one on a database; round robin.
 *
 * @param topology hosts and databases
 */
record Scraping(int hosts, int jobs, Config config, Topology topology) {
  static final int SHARDS_PER_HOST = 25;
  static final int HOST_LIMIT = 2;

  /**
   * @param disabled how many of the jobs are switched off
   */
  static Config config(int jobs, int disabled) {
    StringBuilder text =
        new StringBuilder(
            """
            {"bistro_settings": {
               "nodes": {"levels": ["host", "db"]},
               "resources": {"host": {"slots": {"default": 1, "limit": 2}},
                             "db": {"lock": {"default": 1, "limit": 1}}}}
            """);
    for (int job = 0; job < jobs; job++) {
      text.append(", \"bistro_job->job")
          .append(100 + job)
          .append("\": {\"owner\": \"b\", \"enabled\": ")
          .append(job >= disabled)
          .append('}');
    }
    return Objects.requireNonNull(
        Plugins.load()
            .configParser()
            .parse(
                Objects.requireNonNull(
                    JsonReader.config().read(text.append('}').toString()).value()))
            .value());
  }

  static Scraping of(int hosts, int jobs) {
    Config config = config(jobs, 0);
    TopologyBuilder builder = new TopologyBuilder(config.settings().levels(), "instance");
    for (int host = 0; host < hosts; host++) {
      builder.add(NodeSpec.child(1, "host" + host, null));
    }
    for (int host = 0; host < hosts; host++) {
      for (int shard = 0; shard < SHARDS_PER_HOST; shard++) {
        builder.add(NodeSpec.child(2, "db" + host + "." + shard, "host" + host));
      }
    }
    Topology topology =
        Objects.requireNonNull(builder.build(config.settings().nodeOrder()).value());
    return new Scraping(hosts, jobs, config, topology);
  }

  int leaves() {
    return hosts * SHARDS_PER_HOST;
  }
}
