package io.espalier.testkit.cluster;

import io.espalier.core.config.Config;
import io.espalier.core.config.NodeOrder;
import io.espalier.core.topology.NodeSpec;
import io.espalier.core.topology.Topology;
import io.espalier.testkit.scheduling.TreeFixture;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** The sources of the configuration and of the nodes, which schedulers poll. */
final class SimulatedSources {
  private final ClusterPlan plan;
  private final Set<Integer> goneHosts = new HashSet<>();
  private final Map<Integer, Integer> moved = new HashMap<>();

  /** The existing jobs, each with its creation time. */
  private final TreeMap<String, Long> jobs = new TreeMap<>();

  private final Map<String, Long> goneJobs = new HashMap<>();
  private String bottom = "db";
  private Wanted newest;

  /** The configuration and nodes that should be in force. */
  record Wanted(Config config, Topology topology) {}

  SimulatedSources(ClusterPlan plan) {
    this.plan = plan;
    ClusterPlan.jobs().forEach(job -> jobs.put(job, 0L));
    newest = make();
  }

  Wanted newest() {
    return newest;
  }

  private Wanted make() {
    Config config = plan.config(bottom, jobs);
    List<NodeSpec> nodes = new ArrayList<>();
    for (int host = 0; host < plan.hosts(); host++) {
      if (!goneHosts.contains(host)) {
        nodes.add(NodeSpec.child(1, name(host), null));
      }
    }
    for (int db = 0; db < plan.hosts() * plan.dbsPerHost(); db++) {
      int host = moved.getOrDefault(db, db / plan.dbsPerHost());
      if (!goneHosts.contains(host)) {
        nodes.add(NodeSpec.child(2, name(db), name(host)));
      }
    }
    return new Wanted(
        config, TreeFixture.of(config.settings().levels(), NodeOrder.ORIGINAL, nodes));
  }

  static String name(int node) {
    return "n" + (node + 1);
  }

  /** Removes a host with all nodes below it. */
  void leaves(int host) {
    goneHosts.add(host);
    newest = make();
  }

  /** Restores the host. */
  void comesBack(int host) {
    goneHosts.remove(host);
    newest = make();
  }

  void moves(int db, int host) {
    moved.put(db, host);
    newest = make();
  }

  /** Renames the lowest level: all tasks are new, and their stored statuses remain valid. */
  void renamesLevel() {
    bottom = bottom.equals("db") ? "shard" : "db";
    newest = make();
  }

  void removes(String job) {
    Long created = jobs.remove(job);
    if (created != null) {
      goneJobs.put(job, created);
      newest = make();
    }
  }

  void returns(String job) {
    Long created = goneJobs.remove(job);
    if (created != null) {
      jobs.put(job, created);
      newest = make();
    }
  }

  /** Deletes a job and creates another one with the same name. */
  void remakes(String job, long created) {
    if (jobs.containsKey(job)) {
      jobs.put(job, created);
      newest = make();
    }
  }

  /** Restores everything. */
  void heal() {
    goneHosts.clear();
    jobs.putAll(goneJobs);
    goneJobs.clear();
    newest = make();
  }
}
