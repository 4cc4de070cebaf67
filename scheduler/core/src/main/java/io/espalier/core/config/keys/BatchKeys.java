package io.espalier.core.config.keys;

import static io.espalier.core.config.schema.ValueType.int32;
import static io.espalier.core.config.schema.ValueType.optional;

import io.espalier.core.config.JobOptions;
import io.espalier.core.config.Resource;
import io.espalier.core.config.StartRate;
import io.espalier.core.config.schema.ConfigObject;
import io.espalier.core.config.schema.ConfigValue;
import io.espalier.core.config.schema.Key;
import io.espalier.core.config.schema.Section;
import io.espalier.core.config.schema.ValueType;
import io.espalier.core.config.task.BatchSpec;
import io.espalier.core.config.task.KillRequest;
import io.espalier.core.config.task.Program;
import io.espalier.core.config.task.StatusSource;
import io.espalier.core.json.Json;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
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

        private final Key<BatchSpec, List<String>> perBatch =
            own(
                "per_batch",
                ValueType.texts(),
                BatchSpec::perBatch,
                "Resources that a batch uses only once, however many tasks it has, such as a"
                    + " connection. Only resources of the level `under` or of levels above it.");

        @Override
        public @Nullable BatchSpec read(ConfigObject in, BatchSpec base) {
          Integer most = in.read(max, base);
          Optional<Integer> level = in.get(under, base);
          return most == null
              ? null
              : new BatchSpec(
                  most,
                  level,
                  in.get(wait, base),
                  List.copyOf(new LinkedHashSet<>(in.get(perBatch, base))));
        }
      };

  private BatchKeys() {}

  private static void checkShared(ConfigValue value, BatchSpec spec, List<Integer> needs) {
    String name = value.text();
    Resource resource = name == null ? null : value.resource(name, ConfigValue.ANY);
    if (resource == null) {
      return;
    }
    if (resource.level() > spec.level()) {
      value.error(
          "the tasks of a batch use this resource on different nodes or workers: it is of the level"
              + " \""
              + value.names().levels().name(resource.level())
              + "\", below \""
              + value.names().levels().name(spec.level())
              + "\"",
          "name that level as \"under\", or let each task take its own slots");
    } else if (needs.get(resource.index()) == 0) {
      value.error(
          "the tasks of this job need none of this resource",
          "say how many slots a batch takes in \"resources\" of the job");
    }
  }

  /** Adds the problems of a batch that does not go with the other keys of its job. */
  static void check(
      ConfigValue batch,
      BatchSpec spec,
      JobOptions options,
      List<Integer> needs,
      boolean isCall,
      Program program,
      StatusSource statusFrom,
      @Nullable ConfigValue kill) {
    if (batch.names().levelsAreKnown() && spec.level() >= options.level()) {
      (spec.under().isPresent() ? batch.member("under") : batch)
          .error("the tasks are not below nodes of this level", "name a level above them");
    }
    if (!spec.perBatch().isEmpty() && batch.names().areKnown()) {
      for (ConfigValue each : Objects.requireNonNull(batch.member("per_batch").items())) {
        checkShared(each, spec, needs);
      }
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
    StartRate rate = options.scheduling().startRate().orElse(null);
    if (rate != null && rate.burst() < spec.max()) {
      batch
          .member("max")
          .warning(
              "the start rate of this job lets at most "
                  + rate.burst()
                  + " tasks start at once, so no batch has more",
              "lower \"max\", or raise the \"burst\" of \"start_rate\"");
    }
    // Who inherits it has not asked for TERM.
    if (kill != null
        && kill.json() instanceof Json.Obj said
        && said.get("method") instanceof Json.Str method
        && method.value().equals(KillRequest.Method.TERM.label())) {
      kill.member("method")
          .warning(
              "one task of a batch gets a line on the standard input of the process instead of"
                  + " TERM: a program that does not read it cannot be stopped for one task",
              "use \"term_wait_kill\", unless the program reads its standard input; then remove"
                  + " this key");
    }
  }
}
