package io.espalier.core.config.keys;

import static io.espalier.core.config.keys.ValueType.int32;
import static io.espalier.core.config.keys.ValueType.optional;

import io.espalier.core.config.JobOptions;
import io.espalier.core.config.task.BatchSpec;
import io.espalier.core.config.task.Program;
import io.espalier.core.config.task.StatusSource;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The keys of {@code batch} of a job (docs/batches.md). */
final class BatchKeys {
  /** {@code batch} of a job. */
  static final Section<BatchSpec> BATCH =
      new Section<>(
          "batch",
          "Which tasks of the job one process may run together.",
          new BatchSpec(BatchSpec.MOST, Optional.empty(), BatchSpec.USUAL_WAIT)) {
        private final Key<BatchSpec, Integer> max =
            key(
                    "max",
                    int32(2, BatchSpec.MOST),
                    BatchSpec::max,
                    "The most tasks that one process runs.")
                .own()
                .required("how many tasks one process runs at most, from 2 to " + BatchSpec.MOST);
        private final Key<BatchSpec, Optional<Integer>> under =
            own(
                "under",
                optional(ValueType.level(), 0),
                BatchSpec::under,
                "The level of the node under which the tasks of one process lie; a task without a"
                    + " node on that level runs alone. Without it, the instance: any tasks of the"
                    + " job.");
        private final Key<BatchSpec, Duration> wait =
            own(
                "wait",
                OptionTypes.span(0),
                BatchSpec::waitTime,
                "How long a task that can start waits for others, so that slots that become free"
                    + " one by one fill one batch; 0: not at all.");

        @Override
        @Nullable BatchSpec read(ConfigObject in, BatchSpec base) {
          Integer most = in.read(max, base);
          Optional<Integer> level = in.get(under, base);
          return most == null ? null : new BatchSpec(most, level, in.get(wait, base));
        }
      };

  private BatchKeys() {}

  /** Adds the problems of a batch that does not go with the other keys of its job. */
  static void check(
      ConfigValue batch,
      BatchSpec spec,
      JobOptions options,
      boolean isCall,
      Program program,
      StatusSource statusFrom) {
    if (spec.level() >= options.level()) {
      (spec.under().isPresent() ? batch.member("under") : batch)
          .error("the tasks are not below nodes of this level", "name a level above them");
    }
    if (isCall) {
      batch.error(
          "the tasks of this job are calls, and a batch is a process", "remove one of them");
    }
    if (!program.equals(Program.NONE)) {
      batch.error(
          "the tasks of this job have steps, and those of a batch have one command",
          "remove \"batch\", or \"steps\", \"compensate\" and \"verify\"");
    }
    if (statusFrom == StatusSource.EXIT_CODE) {
      batch.error(
          "the one exit code of a process cannot say how each task has ended",
          "remove \"status_from\"");
    }
  }
}
