package io.espalier.core.loop;

import io.espalier.core.running.LaunchSpec;
import io.espalier.core.status.StepPosition;
import io.espalier.core.status.TaskStatus;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The set-up of tests of steps: what job j does on host h1. */
abstract class SteppedLoop {
  final LoopWorld world = new LoopWorld();

  LaunchSpec launch() {
    return world.launch("j", "h1");
  }

  TaskStatus status() {
    return world.row("j", "h1").status();
  }

  @Nullable String step() {
    StepPosition at = status().step();
    return at == null ? null : at.label();
  }

  void done() {
    world.writes("j", "h1", "done");
  }

  List<String> commands() {
    return world.launches.stream().map(launch -> launch.command().get(0)).toList();
  }
}
