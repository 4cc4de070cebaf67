package io.espalier.core.config.keys;

import static io.espalier.core.config.schema.ValueType.text;
import static io.espalier.core.config.schema.ValueType.texts;

import io.espalier.core.config.WholeJobDependency;
import io.espalier.core.config.schema.ConfigObject;
import io.espalier.core.config.schema.Key;
import io.espalier.core.config.schema.Section;
import io.espalier.core.config.schema.ValueType;
import io.espalier.core.json.Json;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The key {@code run_only_after_all_nodes_are_done_for}. */
public final class DependencyKeys {
  /** One job in {@code run_only_after_all_nodes_are_done_for}. */
  public static final Section<WholeJobDependency> WHOLE_JOB =
      new Section<>(
          "run_only_after_all_nodes_are_done_for",
          "A job to wait for, and how much of it.",
          WholeJobDependency.of("")) {
        private final Key<WholeJobDependency, String> job =
            key("job", text().says("name"), WholeJobDependency::job, "The job to wait for.")
                .required("the name of the job to wait for");
        private final Key<WholeJobDependency, Double> donePercent =
            key(
                    "done_percent",
                    OutcomeKeys.percentToReach(),
                    WholeJobDependency::donePercent,
                    "How many percent of its tasks must be done.")
                .own();
        private final Key<WholeJobDependency, List<String>> tags =
            own(
                "tags",
                texts().says("list of tags"),
                WholeJobDependency::tags,
                "Only tasks on nodes with one of these tags count, so that a job can wait for the"
                    + " canaries of another; empty: all.");

        @Override
        public @Nullable WholeJobDependency read(ConfigObject in, WholeJobDependency base) {
          String name = in.read(job, base);
          double percent = in.get(donePercent, base);
          List<String> onTags = in.get(tags, base);
          return name == null ? null : new WholeJobDependency(name, percent, onTags);
        }
      };

  private DependencyKeys() {}

  /** A job to wait for: its name, or an object that says more. */
  static ValueType<WholeJobDependency> wholeJob() {
    return new ValueType<>(
        (value, base) -> {
          if (value.json() instanceof Json.Obj) {
            return WHOLE_JOB.read(value, base);
          }
          String name = value.text();
          return name == null ? null : WholeJobDependency.of(name);
        },
        (job, inherited, names) ->
            job.equals(WholeJobDependency.of(job.job()))
                ? Json.of(job.job())
                : WHOLE_JOB.write(job, job, names),
        "name or object",
        ValueType.anyOf(text().schema(), WHOLE_JOB.type().schema()));
  }
}
