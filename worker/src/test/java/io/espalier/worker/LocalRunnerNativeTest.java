package io.espalier.worker;

import io.espalier.worker.process.SupervisorOptions;

class LocalRunnerNativeTest extends LocalRunnerConformance {
  @Override
  protected SupervisorOptions.Mechanism mechanism() {
    return SupervisorOptions.Mechanism.NATIVE;
  }
}
