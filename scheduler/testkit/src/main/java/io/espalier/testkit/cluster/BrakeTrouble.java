package io.espalier.testkit.cluster;

import io.espalier.core.api.Command;
import io.espalier.core.status.store.Brake;
import io.espalier.core.status.store.Brake.Target;
import java.util.List;
import java.util.Random;

/**
 * Sets and releases brakes at random instants, until the cluster is told to be quiet. It happens in
 * few lives, with random numbers of its own: all other seeds live as they always have.
 */
final class BrakeTrouble {
  private static final List<Brake.Key> KEYS =
      List.of(
          Brake.Key.all(),
          new Brake.Key(Target.JOB, "", "light"),
          new Brake.Key(Target.JOB, "", "heavy"),
          new Brake.Key(Target.QUEUE, "", "default"));

  private final SimulatedCluster cluster;
  private final List<SimulatedScheduler> schedulers;
  private final Random random;

  BrakeTrouble(SimulatedCluster cluster, List<SimulatedScheduler> schedulers, long seed) {
    this.cluster = cluster;
    this.schedulers = schedulers;
    this.random = new Random(seed);
  }

  /** Returns whether brakes are set in the life of a seed. */
  static boolean isIn(long seed) {
    return Math.floorMod(seed, 16) == 9 || Math.floorMod(seed, 16) == 12;
  }

  void begin() {
    cluster.timeline.after(random.nextInt(10_000), this::next);
  }

  private void next() {
    if (cluster.isQuiet()) {
      return;
    }
    Brake.Key key = KEYS.get(random.nextInt(KEYS.size()));
    Brake.Ramp ramp =
        random.nextInt(3) == 0 ? new Brake.Ramp(Brake.ONE / 4, 1L + random.nextInt(3_000)) : null;
    Command<?> command;
    if (random.nextBoolean()) {
      int millionths = random.nextInt(3) > 0 ? 0 : random.nextInt(Brake.ONE);
      Brake brake = Brake.of(key, millionths).ramp(ramp).author("simulated").build();
      command = new Command.SetBrake(brake, random.nextInt(3) == 0 ? 0 : random.nextInt(20_000));
      cluster.coverage.happened(SimulationEvent.BRAKE_SET);
      cluster.trace(() -> "an operator brakes " + key + " to " + millionths);
    } else {
      command = new Command.ReleaseBrake(key, ramp, "simulated", "");
      cluster.trace(() -> "an operator releases " + key);
    }
    schedulers.get(random.nextInt(schedulers.size())).command(command);
    cluster.timeline.after(1 + random.nextInt(10_000), this::next);
  }
}
