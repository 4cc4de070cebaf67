package io.espalier.core.loop;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.api.view.JobActivity;
import io.espalier.core.config.task.Backoff;
import io.espalier.core.config.task.RetryPolicy;
import io.espalier.core.forecast.JobPace;
import io.espalier.core.loop.state.ActivityScan;
import io.espalier.core.loop.state.LiveTasks;
import io.espalier.core.loop.state.LiveTasks.Live;
import io.espalier.core.loop.state.PaceScan;
import io.espalier.core.loop.state.Throughput;
import io.espalier.core.running.LaunchSpec;
import io.espalier.core.running.TaskResult;
import io.espalier.core.status.TaskKey;
import io.espalier.core.status.TaskStatus;
import io.espalier.core.status.TaskTransitions;
import io.espalier.testkit.running.Launches;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What looks at all live tasks does it in slices, whatever their number. */
final class LiveScansTest {
  private static final int LIVE = 5_000;
  private static final int ENDED = 20;

  private final LiveTasks live = new LiveTasks();
  private final Throughput paces = new Throughput();
  private long now;

  @BeforeEach
  void start() {
    Launches launches = new Launches();
    for (int i = 0; i < LIVE + ENDED; i++) {
      LaunchSpec launch = launches.of("n" + i, "x");
      now = launch.invocation().startMillis();
      TaskStatus status = TaskTransitions.firstStart(now);
      TaskKey key = new TaskKey(launch.job(), launch.node());
      Live task = new Live(key, i, launch, status, RetryPolicy.of(Backoff.DEFAULT));
      live.add(task);
      paces.placed(task, now);
    }
    now += 1_000;
    for (int i = 0; i < ENDED; i++) {
      Live task = Objects.requireNonNull(live.ofRun(i));
      TaskResult end =
          TaskResult.exited(task.key.job(), task.key.node(), task.invocation(), "done", 0);
      paces.ended(task, end, TaskStatus.of(TaskStatus.Main.DONE, now, 1), now);
      live.remove(task.key, task.invocation());
    }
    now += 100_000;
  }

  private Map<String, JobPace> durations(int units) {
    PaceScan scan = new PaceScan(paces, live);
    long visited = 0;
    while (!scan.isDone()) {
      int used = scan.step(now, units);
      // A slice may look beyond its units at the rest of a job.
      assertThat(used).isBetween(1, units + 100);
      visited += used;
    }
    assertThat(visited).isGreaterThanOrEqualTo(LIVE);
    return scan.paces();
  }

  private JobActivity activity(int units) {
    ActivityScan scan = new ActivityScan(paces, live, "");
    long visited = 0;
    while (!scan.isDone()) {
      int used = scan.step(now, units);
      assertThat(used).isBetween(1, units);
      visited += used;
    }
    assertThat(visited).isGreaterThanOrEqualTo(LIVE);
    return scan.activity(now);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 50, 4_999})
  void noSliceLooksAtMoreTasksThanItMay(int units) {
    assertThat(durations(units)).hasSize(1).isEqualTo(durations(100_000));
    assertThat(activity(units)).isEqualTo(activity(100_000));
    assertThat(activity(units).stragglersTotal()).isEqualTo(LIVE);
  }
}
