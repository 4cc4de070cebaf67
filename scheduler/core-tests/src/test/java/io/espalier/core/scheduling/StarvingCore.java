package io.espalier.core.scheduling;

import io.espalier.core.status.TaskStatus;
import io.espalier.core.status.TaskStatus.Main;
import io.espalier.testkit.scheduling.ConfigFixture;
import io.espalier.testkit.scheduling.TestPolicies;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;

/** The set-up of tests of reservations: endless light work, and a heavy job b that waits. */
abstract class StarvingCore {
  static final TaskStatus DONE = TaskStatus.of(Main.DONE, 0, 1);

  final SchedulingCore core = new SchedulingCore(5);
  final ConfigFixture config = new ConfigFixture("host");
  final Queue<Long> running = new ArrayDeque<>();
  final List<String> started = new ArrayList<>();
  SchedulingPolicy policy = TestPolicies.IN_TURN;
  long now = 1_000;

  /** What a loop does after it has looked at the clock. */
  void turn() {
    while (!core.advance(now, 7)) {
      // In slices.
    }
    boolean complete = false;
    while (!complete) {
      int before = started.size();
      complete =
          core.round(
              policy,
              100,
              run -> {
                running.add(run);
                started.add(core.running().jobName(run));
              });
      // Not every policy takes all it could.
      complete |= started.size() == before;
    }
    core.verify();
  }

  /** The task that has run longest ends, and may start again. */
  void end() {
    Long run = running.remove();
    core.finish(run, core.running().jobName(run).equals("b") ? DONE : null);
    now += 10;
    turn();
  }

  int endsUntilHeavy(int most) {
    for (int ends = 1; ends <= most; ends++) {
      end();
      if (started.contains("b")) {
        return ends;
      }
    }
    return -1;
  }
}
