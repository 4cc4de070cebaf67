package io.espalier.worker;

import io.espalier.core.config.task.SubprocessOptions.Cgroups;
import io.espalier.core.running.LaunchSpec;
import io.espalier.testkit.running.Launches;
import io.espalier.testkit.running.MemoryLogStore;
import io.espalier.worker.process.SupervisorOptions;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/**
 * A scheduler to be killed. Arguments: data directory, mechanism, number of tasks, script; and
 * root, slice and subsystems of control groups, if tasks are to have some.
 */
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
      LaunchSpec launch = launches.of("job", "node" + i, List.of("/bin/sh", "-c", args[3], "task"));
      runner.start(
          args.length < 7
              ? launch
              : TaskBench.with(
                  launch, new Cgroups(args[4], args[5], List.of(args[6].split(",", -1)), false)));
    }
    System.out.println("ready");
    new CountDownLatch(1).await();
  }
}
