package io.espalier.worker;

import io.espalier.worker.process.SupervisorOptions;
import org.junit.jupiter.api.Tag;

@Tag("slow")
class LocalRunnerJdkTest extends LocalRunnerConformance {
  @Override
  protected SupervisorOptions.Mechanism mechanism() {
    return SupervisorOptions.Mechanism.JDK;
  }
}
