package io.espalier.core.config.rollout;

import io.soabase.recordbuilder.core.RecordBuilder;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;

/**
 * How the tasks of a job start in stages (docs/rollout.md). Immutable.
 *
 * @param stages the stages, ascending; the last is {@link RolloutStage#ALL}
 * @param spread the level over whose nodes a stage is spread; empty: that above the tasks
 * @param soak how long a stage is watched after its last task has ended
 * @param failedPercent more than so many percent of failed tasks halt the job; empty: none do
 * @param minSamples while tasks of the stage are left, the checks say nothing before so many of its
 *     tasks have ended or failed
 * @param maxP95Ratio the most by which the 95th percentile of the durations may exceed that of the
 *     stages before; empty: by any
 * @param approve whether a person must open each further stage
 * @param goesOn whether the stages go on when what the tasks run has changed; otherwise they begin
 *     again, for the tasks that are left
 * @param probes names of probes; a bad value below which tasks of the roll-out run halts the job
 */
@RecordBuilder
public record RolloutSpec(
    List<RolloutStage> stages,
    Optional<Integer> spread,
    Duration soak,
    OptionalDouble failedPercent,
    int minSamples,
    OptionalDouble maxP95Ratio,
    boolean approve,
    boolean goesOn,
    List<String> probes)
    implements RolloutSpecBuilder.With {
  /** The usual {@link #minSamples}. */
  public static final int USUAL_SAMPLES = 20;

  public RolloutSpec {
    stages = List.copyOf(stages);
    probes = List.copyOf(probes);
  }
}
