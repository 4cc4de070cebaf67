package io.espalier.cli.bench;

import io.espalier.core.config.Config;
import io.espalier.core.forecast.JobPace;
import io.espalier.core.forecast.SchedulerSnapshot;
import io.espalier.core.scheduling.CoreEvent;
import io.espalier.core.topology.NodeSpec;
import io.espalier.core.topology.TopologyBuilder;
import io.espalier.json.JsonReader;
import io.espalier.server.app.Plugins;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;

/**
 * The start of jobs of scraping databases: hosts of 25 databases, two tasks at a time on a host.
 * Durations have a long tail. Their median is chosen so that a further job takes about as much
 * longer as in the paper, whose workload is not known.
 */
record MakespanWorld(SchedulerSnapshot snapshot, Map<String, JobPace> paces) {
  private static final int DATABASES = 25;
  private static final double MEDIAN_MILLIS = 1_500;

  /** Of the logarithm of durations: one in a hundred takes sixty times the median. */
  private static final double DEVIATION = 1.6;

  static MakespanWorld of(int hosts, int jobs, String policy, Plugins plugins) {
    StringBuilder text =
        new StringBuilder("{\"bistro_settings\": {\"nodes\": {\"levels\": [\"host\", \"db\"]},")
            .append(" \"scheduler\": \"")
            .append(policy)
            .append("\", \"resources\": {\"host\": {\"slots\": {\"default\": 1, \"limit\": 2}},")
            .append(" \"db\": {\"lock\": {\"default\": 1, \"limit\": 1}}}}");
    Map<String, JobPace> paces = new TreeMap<>();
    for (int job = 0; job < jobs; job++) {
      String name = "job-" + (char) ('a' + job);
      text.append(", \"bistro_job->").append(name);
      text.append("\": {\"owner\": \"p\", \"priority\": ").append(job + 1).append('}');
      paces.put(name, pace());
    }
    var read = JsonReader.config().read(text.append('}').toString());
    Config config =
        Objects.requireNonNull(
            plugins.configParser().parse(Objects.requireNonNull(read.value())).value());
    TopologyBuilder nodes = new TopologyBuilder(config.settings().levels(), "instance");
    for (int host = 0; host < hosts; host++) {
      nodes.add(NodeSpec.child(1, "host" + host, null));
    }
    for (int host = 0; host < hosts; host++) {
      for (int db = 0; db < DATABASES; db++) {
        nodes.add(NodeSpec.child(2, "db" + host + '.' + db, "host" + host));
      }
    }
    List<CoreEvent> events =
        List.of(
            new CoreEvent.Clock(0),
            new CoreEvent.Began(
                config, Objects.requireNonNull(nodes.build(config.settings().nodeOrder()).value())),
            new CoreEvent.Stepped(Integer.MAX_VALUE, true));
    return new MakespanWorld(
        new SchedulerSnapshot(0, events, List.of(), paces, List.of(), Map.of()), paces);
  }

  /** Returns a log-normal distribution, by the quantiles of a normal one. */
  private static JobPace pace() {
    List<Long> millis = new ArrayList<>();
    for (int i = 0; i < JobPace.QUANTILES; i++) {
      double part = (i + 0.5) / JobPace.QUANTILES;
      // The logistic distribution, which has nearly the same quantiles and an inverse.
      double normal = Math.log(part / (1 - part)) * Math.sqrt(3) / Math.PI;
      millis.add(Math.round(MEDIAN_MILLIS * Math.exp(DEVIATION * normal)));
    }
    return new JobPace(millis, 1);
  }

  /** Returns how long the mean work on a host takes with both of its slots, in seconds. */
  double bound() {
    return paces.values().stream().mapToDouble(JobPace::meanMillis).sum() * DATABASES / 2 / 1000;
  }
}
