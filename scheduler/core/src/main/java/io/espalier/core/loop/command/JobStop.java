package io.espalier.core.loop.command;

import io.espalier.core.api.Command;
import io.espalier.core.loop.state.LiveTasks;
import io.espalier.core.loop.state.LiveTasks.Live;
import io.espalier.core.loop.state.SlicedWork;
import java.util.function.Consumer;
import java.util.function.LongConsumer;

/**
 * Kills the tasks of a job that were alive when the job was stopped, in slices. One that starts
 * later, because the job was resumed meanwhile, is spared.
 */
public final class JobStop implements SlicedWork {
  private static final int UNITS_PER_SLICE = 20_000;

  /** Killing a task costs as much as looking at so many. */
  private static final int UNITS_PER_KILL = 40;

  private final LiveTasks live;
  private final TaskKiller kills;
  private final Command.Stop command;
  private final Consumer<Runnable> sliced;
  private final LongConsumer finished;
  private final long addedBefore;

  /** The number of the live task to be looked at next. */
  private int place;

  private long killed;
  private int waiting;

  /**
   * @param sliced called at the end of a slice, with what is to be run on the owner's thread once
   *     the slice is durable
   * @param finished called at the end, with the number of tasks that were killed
   */
  public JobStop(
      LiveTasks live,
      TaskKiller kills,
      Command.Stop command,
      Consumer<Runnable> sliced,
      LongConsumer finished) {
    this.live = live;
    this.kills = kills;
    this.command = command;
    this.sliced = sliced;
    this.finished = finished;
    addedBefore = live.added();
  }

  @Override
  public boolean waits() {
    return waiting >= SelectionCommand.MOST_WAITING;
  }

  @Override
  public boolean step(long nowMillis) {
    if (waits()) {
      return false;
    }
    int end = live.high();
    for (int left = UNITS_PER_SLICE; place < end && left > 0; left--) {
      Live task = live.at(place++);
      if (task != null
          && task.addedAs() < addedBefore
          && task.key.job().equals(command.job())
          && kills.kill(task.key, command, nowMillis)) {
        killed++;
        left -= UNITS_PER_KILL;
      }
    }
    if (place < end) {
      waiting++;
      sliced.accept(() -> waiting--);
      return false;
    }
    finished.accept(killed);
    return true;
  }
}
