package io.espalier.e2e;

import static io.espalier.e2e.Site.number;
import static io.espalier.e2e.Site.text;

import io.espalier.core.json.Json;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;

/** One scheduler and its workers, with a lease of a few seconds. */
final class Pool implements AutoCloseable {
  private final Site site;
  private final Map<String, Espalier> workers = new TreeMap<>();
  private Espalier scheduler;
  private String thrift = "127.0.0.1:0";

  private final int leaseMillis;

  Pool(Site site, int count) {
    this(site, count, 6_000);
  }

  Pool(Site site, int count, int leaseMillis) {
    this.site = site;
    this.leaseMillis = leaseMillis;
    scheduler = started();
    boolean complete = false;
    try {
      scheduler.url();
      thrift = scheduler.forWorkers();
      for (int i = 1; i <= count; i++) {
        startWorker("w" + i);
      }
      complete = true;
    } finally {
      if (!complete) {
        close();
      }
    }
  }

  private Espalier started() {
    return Espalier.start(
        site.directory(),
        "scheduler",
        "--config",
        "site.json",
        "--runner",
        "remote",
        "--thrift",
        thrift,
        "--http",
        "127.0.0.1:0",
        "--heartbeat-ms",
        "700",
        "--lease-ms",
        Integer.toString(leaseMillis));
  }

  void startScheduler() {
    scheduler = started();
    scheduler.url();
  }

  void stopScheduler(String signal) {
    scheduler.signal(signal).ended();
  }

  void startWorker(String name) {
    workers.put(
        name,
        Espalier.start(site.directory(), "worker", "--scheduler", thrift, "--shard-id", name));
  }

  Espalier worker(String name) {
    return Objects.requireNonNull(workers.get(name), name);
  }

  String url() {
    return scheduler.url();
  }

  Http http() {
    return new Http(url());
  }

  List<Json.Obj> workers() {
    List<Json.Obj> found = new ArrayList<>();
    for (Json worker : ((Json.Arr) Site.at(http().get("/api/v1/workers"), "workers")).items()) {
      found.add((Json.Obj) worker);
    }
    return found;
  }

  Map<String, String> states() {
    Map<String, String> states = new TreeMap<>();
    workers().forEach(worker -> states.put(text(worker, "shard"), text(worker, "state")));
    return states;
  }

  Map<String, Long> running() {
    Map<String, Long> running = new TreeMap<>();
    workers().forEach(worker -> running.put(text(worker, "shard"), number(worker, "running")));
    return running;
  }

  @Override
  public void close() {
    scheduler.close();
    workers.values().forEach(Espalier::close);
  }
}
