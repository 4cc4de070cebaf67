package io.espalier.worker;

import io.espalier.core.running.LaunchSpec;
import io.espalier.core.running.TaskRunner;
import io.espalier.testkit.running.Launches;
import io.espalier.testkit.running.TaskRunnerContract;

class DryRunRunnerTest extends TaskRunnerContract {
  private final Launches launches = new Launches();

  @Override
  protected TaskRunner create() {
    return new DryRunRunner("instance");
  }

  @Override
  protected LaunchSpec quick(String node) {
    return launches.of(node, "/no/such/program");
  }
}
