package io.espalier.testkit.running;

import io.espalier.core.config.KillRequest;
import io.espalier.core.config.StatusFrom;
import io.espalier.core.config.SubprocessOptions;
import io.espalier.core.json.Json;
import io.espalier.core.running.Invocation;
import io.espalier.core.running.Launch;
import java.util.List;

/** Makes launches, each with an invocation of its own; not thread-safe. */
public final class Launches {
  private long sequence;

  /** A launch of job {@code job} with the given argv prefix. */
  public Launch of(String node, String... command) {
    return of("job", node, List.of(command));
  }

  public Launch of(String job, String node, List<String> command) {
    sequence++;
    return new Launch(
        job,
        node,
        new Invocation(1, sequence, 1_000_000_000_000L + sequence),
        1,
        command,
        Json.object().put("id", job).build(),
        StatusFrom.STATUS_LINE,
        SubprocessOptions.DEFAULT,
        KillRequest.DEFAULT);
  }

  public static Launch with(Launch launch, StatusFrom statusFrom) {
    return new Launch(
        launch.job(),
        launch.node(),
        launch.invocation(),
        launch.attempt(),
        launch.command(),
        launch.argument(),
        statusFrom,
        launch.subprocess(),
        launch.kill());
  }

  public static Launch with(Launch launch, Json.Obj argument) {
    return new Launch(
        launch.job(),
        launch.node(),
        launch.invocation(),
        launch.attempt(),
        launch.command(),
        argument,
        launch.statusFrom(),
        launch.subprocess(),
        launch.kill());
  }

  public static Launch with(Launch launch, SubprocessOptions subprocess) {
    return new Launch(
        launch.job(),
        launch.node(),
        launch.invocation(),
        launch.attempt(),
        launch.command(),
        launch.argument(),
        launch.statusFrom(),
        subprocess,
        launch.kill());
  }

  public static Launch with(Launch launch, KillRequest kill) {
    return new Launch(
        launch.job(),
        launch.node(),
        launch.invocation(),
        launch.attempt(),
        launch.command(),
        launch.argument(),
        launch.statusFrom(),
        launch.subprocess(),
        kill);
  }
}
