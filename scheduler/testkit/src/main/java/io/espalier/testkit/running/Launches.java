package io.espalier.testkit.running;

import io.espalier.core.config.task.KillRequest;
import io.espalier.core.config.task.StatusSource;
import io.espalier.core.config.task.SubprocessOptions;
import io.espalier.core.json.Json;
import io.espalier.core.running.Invocation;
import io.espalier.core.running.LaunchSpec;
import java.util.List;

/** Creates launches, each with an invocation of its own; not thread-safe. */
public final class Launches {
  private long sequence;

  /** Returns a launch of job {@code job} with the given argv prefix. */
  public LaunchSpec of(String node, String... command) {
    return of("job", node, List.of(command));
  }

  public LaunchSpec of(String job, String node, List<String> command) {
    sequence++;
    return LaunchSpec.of(job, node, new Invocation(1, sequence, 1_000_000_000_000L + sequence))
        .command(command)
        .argument(Json.object().put("id", job).build())
        .build();
  }

  public static LaunchSpec with(LaunchSpec launch, StatusSource statusFrom) {
    return launch.withStatusFrom(statusFrom);
  }

  public static LaunchSpec with(LaunchSpec launch, Json.Obj argument) {
    return launch.withArgument(argument);
  }

  public static LaunchSpec with(LaunchSpec launch, SubprocessOptions subprocess) {
    return launch.withSubprocess(subprocess);
  }

  public static LaunchSpec with(LaunchSpec launch, KillRequest kill) {
    return launch.withKill(kill);
  }
}
