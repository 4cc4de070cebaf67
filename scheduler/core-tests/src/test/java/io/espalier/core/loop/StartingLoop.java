package io.espalier.core.loop;

import io.espalier.core.running.Invocation;
import io.espalier.core.running.LaunchSpec;
import io.espalier.core.running.TaskResult;
import io.espalier.core.scheduling.CoreEvent;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** The set-up of tests of starts in flight, which a runner confirms when the test says. */
abstract class StartingLoop {
  final List<CoreEvent> recording = new ArrayList<>();
  final LoopWorld world = new LoopWorld(0, recording::add);
  final Set<Invocation> confirmed = new HashSet<>();

  /** Returns that many nodes, as members of a configuration. */
  static String nodes(int count) {
    return IntStream.range(0, count)
        .mapToObj(i -> "\"n" + i + "\": []")
        .collect(Collectors.joining(", "));
  }

  void confirm(LaunchSpec launch) {
    confirmed.add(launch.invocation());
    world.post(new LoopInput.TaskStarted(launch.invocation()));
    world.settle();
  }

  void refuse(LaunchSpec launch) {
    world.end(launch.job(), launch.node(), TaskResult.Kind.NOT_STARTED, null, null);
    world.settle();
  }
}
