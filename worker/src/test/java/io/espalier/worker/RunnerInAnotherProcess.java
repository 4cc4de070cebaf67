package io.espalier.worker;

import io.espalier.core.running.Launch;
import io.espalier.testkit.running.Launches;
import io.espalier.testkit.running.MemoryLogStore;
import io.espalier.worker.process.SupervisorOptions;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/** A scheduler to be killed. Arguments: data directory, mechanism, number of tasks, script. */
final class RunnerInAnotherProcess {
  private RunnerInAnotherProcess() {}

  public static void main(String[] args) throws Exception {
    Path data = Path.of(args[0]);
    LocalRunner runner =
        LocalRunner.prepare(
            "instance",
            SupervisorOptions.of(data, data)
                .withMechanism(SupervisorOptions.Mechanism.valueOf(args[1])),
            new MemoryLogStore());
    runner.open(end -> System.out.println(end));
    Launches launches = new Launches();
    for (int i = 0; i < Integer.parseInt(args[2]); i++) {
      Launch launch = launches.of("job", "node" + i, List.of("/bin/sh", "-c", args[3], "task"));
      runner.start(launch);
    }
    System.out.println("ready");
    new CountDownLatch(1).await();
  }
}
