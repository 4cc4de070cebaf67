package io.espalier.testkit.oracle;

import io.espalier.core.config.Resource;
import io.espalier.core.running.MeasuredLoad;
import io.espalier.core.running.WorkerInfo;
import io.espalier.core.scheduling.spi.WorkerLoad;
import java.util.List;

/** The load of a worker as the oracle counts it. */
public record OracleLoad(Oracle oracle, WorkerInfo worker) implements WorkerLoad {
  private List<Resource> all() {
    var settings = oracle.config().settings();
    return settings.resources().ofLevel(settings.levels().worker());
  }

  @Override
  public int tasks() {
    return oracle.tasksOn(worker.ref().shard());
  }

  @Override
  public int maxTasks() {
    return worker.maxTasks();
  }

  @Override
  public int resources() {
    return all().size();
  }

  @Override
  public int weight(int resource) {
    return all().get(resource).weight();
  }

  @Override
  public int limit(int resource) {
    return oracle.limitOn(worker, all().get(resource));
  }

  @Override
  public MeasuredLoad measured() {
    return worker.measured();
  }

  @Override
  public int free(int resource) {
    return limit(resource) - oracle.usedOn(worker.ref().shard(), all().get(resource).name());
  }
}
