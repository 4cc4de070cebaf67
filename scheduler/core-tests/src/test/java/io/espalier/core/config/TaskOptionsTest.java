package io.espalier.core.config;

import static io.espalier.testkit.config.ConfigFixtures.job;
import static io.espalier.testkit.config.ConfigFixtures.json;
import static io.espalier.testkit.config.ConfigFixtures.withJobs;
import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.config.keys.TaskKeys;
import io.espalier.core.config.task.CgroupLimits;
import io.espalier.core.config.task.LogOptions;
import io.espalier.core.config.task.OutcomeRules;
import io.espalier.core.config.task.ProcessAttributes;
import io.espalier.core.config.task.ProcessAttributes.IoClass;
import io.espalier.core.config.task.ProcessAttributes.IoNice;
import io.espalier.core.config.task.ProcessAttributes.RunAs;
import io.espalier.core.config.task.SubprocessOptions;
import io.espalier.core.config.task.TaskVariables;
import io.espalier.core.config.task.TimeLimits;
import io.espalier.core.config.write.BistroJobWriter;
import io.espalier.core.json.Json;
import io.espalier.core.problem.Problem;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The options of tasks that Bistro does not have: what is read, inherited, taken away, written. */
class TaskOptionsTest {
  private static final String ALL =
      "'task_subprocess': {'umask': '027', 'nice': -5, 'ionice': {'class': 'best_effort',"
          + " 'level': 6}, 'run_as': 'backup:1000', 'pass_environment': ['JAVA_HOME', 'AWS_*'],"
          + " 'environment': {'REGION': 'eu', 'RETRIES': 3}, 'cgroup_limits': {'memory_mb': 512,"
          + " 'memory_swap_mb': 0, 'cpu_weight': 50, 'cpu_quota_percent': 250, 'pids_max': 100,"
          + " 'io_weight': 10, 'enforce': 'required'}},"
          + " 'timeout_sec': 90.5, 'no_output_timeout_sec': 30,"
          + " 'log_retention': {'days': 7, 'max_mb': 100}, 'redact': ['token=[^ ]+']";

  private static Config config(String settings, String members) {
    return withJobs(
        "{'nodes': {'levels': ['db'], 'node_sources': [{'source': 'empty'}]}, 'resources': {}"
            + (settings.isEmpty() ? "" : ", " + settings)
            + "}",
        "foo",
        "{'owner': 'o'" + (members.isEmpty() ? "" : ", " + members) + "}");
  }

  private static Job read(String settings, String members) {
    return job(config(settings, members), "foo");
  }

  // ---- when a job as a whole has failed or succeeded

  private static final String RULES =
      "'fail_job_when': {'failed_tasks': 100, 'failed_pct': 5, 'min_samples': 50, 'window': '1h'},"
          + " 'succeed_job_when': {'done_pct': 99.5}";

  private static final OutcomeRules READ =
      new OutcomeRules(
          OptionalInt.of(100), OptionalDouble.of(5), 50, Optional.of(Duration.ofHours(1)), 99.5);

  @Test
  void rulesForWholeJobsAreReadInheritedAsAWholeAndTakenAway() {
    assertThat(read("", "").outcome()).isEqualTo(OutcomeRules.DEFAULT);
    assertThat(read("", RULES).outcome()).isEqualTo(READ);
    assertThat(read(RULES, "").outcome()).isEqualTo(READ);
    assertThat(read(RULES, "'fail_job_when': {'failed_tasks': 3}").outcome())
        .isEqualTo(
            new OutcomeRules(OptionalInt.of(3), OptionalDouble.empty(), 1, Optional.empty(), 99.5));
    assertThat(read(RULES, "'fail_job_when': false, 'succeed_job_when': false").outcome())
        .isEqualTo(OutcomeRules.DEFAULT);
    assertThat(read(RULES, "'succeed_job_when': 'never'").outcome().donePercent())
        .isEqualTo(OutcomeRules.NEVER);
    assertThat(read("'succeed_job_when': 'never'", "").outcome().donePercent())
        .isEqualTo(OutcomeRules.NEVER);
    assertThat(read("", "'succeed_job_when': 'nevr'").problems().toString())
        .contains("expected an object with \"done_pct\", false, or \"never\"");
    for (String window : List.of("'90s'", "90", "'90'")) {
      assertThat(
              read("", "'fail_job_when': {'failed_pct': 0, 'window': " + window + "}")
                  .outcome()
                  .window())
          .contains(Duration.ofSeconds(90));
    }
  }

  @Test
  void rulesForWholeJobsAreExportedSoThatTheyAreReadBack() {
    String endless = "'succeed_job_when': 'never'";
    for (String settings : List.of("", RULES, endless)) {
      for (String members :
          List.of("", RULES, endless, "'fail_job_when': false, 'succeed_job_when': false")) {
        Config config = config(settings, members);
        Job job = job(config, "foo");
        String exported = BistroJobWriter.toJson(job, config.settings()).toString();
        Job again = job(withJobs(config.settings().original().toString(), "foo", exported), "foo");
        assertThat(again.outcome()).as(exported).isEqualTo(job.outcome());
      }
    }
    assertThat(BistroJobWriter.toJson(read("", ""), config("", "").settings()).members())
        .doesNotContainKeys("fail_job_when", "succeed_job_when");
  }

  @Test
  void everyOptionIsRead() {
    Job job = read("", ALL + ", 'complete_by': '2026-11-22T07:00:00+01:00'");
    assertThat(job.problems()).isEmpty();
    SubprocessOptions options = job.subprocess();
    assertThat(options.attributes())
        .isEqualTo(
            new ProcessAttributes(
                OptionalInt.of(23),
                OptionalInt.of(-5),
                Optional.of(new IoNice(IoClass.BEST_EFFORT, 6)),
                Optional.of(new RunAs("backup", Optional.of("1000")))));
    assertThat(options.variables())
        .isEqualTo(
            new TaskVariables(
                List.of("JAVA_HOME", "AWS_*"), Map.of("REGION", "eu", "RETRIES", "3")));
    assertThat(options.limits())
        .isEqualTo(
            new CgroupLimits(
                OptionalLong.of(512),
                OptionalLong.of(0),
                OptionalInt.of(50),
                OptionalInt.of(250),
                OptionalInt.of(100),
                OptionalInt.of(10),
                true));
    assertThat(job.timeLimits())
        .isEqualTo(
            new TimeLimits(
                Optional.of(Duration.ofMillis(90_500)),
                Optional.of(Instant.parse("2026-11-22T06:00:00Z")),
                Optional.of(Duration.ofSeconds(30))));
    assertThat(job.logs())
        .isEqualTo(new LogOptions(OptionalInt.of(7), OptionalLong.of(100), List.of("token=[^ ]+")));
  }

  @Test
  void aJobInheritsAllOfIt() {
    Job own = read("", ALL);
    Job heir = read(ALL, "");
    assertThat(heir.subprocess()).isEqualTo(own.subprocess());
    assertThat(heir.timeLimits()).isEqualTo(own.timeLimits());
    assertThat(heir.logs()).isEqualTo(own.logs());
  }

  @Test
  void falseTakesAnInheritedValueAway() {
    Job job =
        read(
            ALL,
            "'task_subprocess': {'umask': false, 'nice': false, 'ionice': false, 'run_as': false,"
                + " 'pass_environment': [], 'cgroup_limits': {'memory_mb': false,"
                + " 'memory_swap_mb': false, 'cpu_weight': false, 'cpu_quota_percent': false,"
                + " 'pids_max': false, 'io_weight': false, 'enforce': 'if_available'}},"
                + " 'timeout_sec': false, 'no_output_timeout_sec': false, 'complete_by': false,"
                + " 'log_retention': {'days': false, 'max_mb': false}");
    assertThat(job.problems()).isEmpty();
    assertThat(job.subprocess().attributes()).isEqualTo(ProcessAttributes.INHERITED);
    assertThat(job.subprocess().limits()).isEqualTo(CgroupLimits.NONE);
    assertThat(job.subprocess().variables().passed()).isEmpty();
    assertThat(job.timeLimits()).isEqualTo(TimeLimits.NONE);
    assertThat(job.logs().retentionDays()).isEmpty();
  }

  @Test
  void variablesAreInheritedNameByNameAndPatternsOfTheSettingsCannotBeLost() {
    Job job =
        read(ALL, "'task_subprocess': {'environment': {'REGION': 'us'}}, 'redact': ['key=[a-z]+']");
    assertThat(job.subprocess().variables().set())
        .isEqualTo(Map.of("REGION", "us", "RETRIES", "3"));
    assertThat(job.logs().redact()).containsExactly("token=[^ ]+", "key=[a-z]+");
  }

  @Test
  void theExportReadsBackAndSaysNothingThatIsNotSaid() {
    Config config = config("", ALL + ", 'complete_by': 1795327200.25");
    Json.Obj export = BistroJobWriter.toJson(job(config, "foo"), config.settings());
    assertThat(export.get("complete_by")).isEqualTo(Json.of("2026-11-22T06:00:00.250Z"));
    String settings = "{'nodes': {'levels': ['db'], 'node_sources': []}, 'resources': {}}";
    Job again = job(withJobs(settings, "foo", export.toString()), "foo");
    assertThat(again.problems()).isEmpty();
    assertThat(BistroJobWriter.toJson(again, config.settings())).isEqualTo(export);
    Json.Obj plain = BistroJobWriter.toJson(read("", ""), config.settings());
    assertThat(plain.members())
        .doesNotContainKeys("timeout_sec", "complete_by", "log_retention", "redact");
    assertThat(((Json.Obj) Objects.requireNonNull(plain.get("task_subprocess"))).members())
        .doesNotContainKeys("umask", "environment", "cgroup_limits");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "'umask': 22 | task_subprocess.umask | 22 | octal",
        "'nice': 20 | task_subprocess.nice | 20 | from -20 to 19",
        "'ionice': {'level': 1} | task_subprocess.ionice.class | | one of realtime",
        "'run_as': 'a b' | task_subprocess.run_as | \"a b\" | user:group",
        "'environment': {'ESPALIER_X': 'y'} | task_subprocess.environment.ESPALIER_X | | own",
        "'cgroup_limits': {'cpu_weight': 0} | task_subprocess.cgroup_limits.cpu_weight | 0 | 10000",
      })
  void aBadOptionIsAnErrorWithItsPlaceAndValue(
      String member, String path, String value, String message) {
    Job job = read("", "'task_subprocess': {" + member + "}");
    assertThat(job.problems()).hasSize(1);
    Problem problem = job.problems().get(0);
    assertThat(problem.isError()).isTrue();
    assertThat(problem.path()).isEqualTo("bistro_job->foo." + path);
    assertThat(problem.value()).isEqualTo(value);
    assertThat(problem.message()).contains(message);
  }

  @ParameterizedTest
  @ValueSource(strings = {"2026-11-22T06:00:00", "2026-11-22", "2026-11-22 06:00"})
  void aDeadlineWithoutATimeZoneSaysWhatIsMissing(String text) {
    Job job = read("", "'complete_by': '" + text + "'");
    assertThat(job.problems()).hasSize(1);
    assertThat(job.problems().get(0).hint()).contains("time zone");
  }

  @Test
  void aSilenceLongerThanTheTimeoutIsWarnedOf() {
    Job job = read("", "'timeout_sec': 10, 'no_output_timeout_sec': 10");
    assertThat(job.problems()).hasSize(1);
    assertThat(job.isValid()).isTrue();
    assertThat(read("'timeout_sec': 10", "'no_output_timeout_sec': 9").problems()).isEmpty();
  }

  @Test
  void aBadPatternDoesNotTakeTheOthersAway() {
    Job job = read("'redact': ['a+']", "'redact': ['(', 'b+', 'c*']");
    assertThat(job.isValid()).isFalse();
    assertThat(job.problems()).hasSize(2);
    assertThat(job.logs().redact()).containsExactly("a+", "b+");
  }

  @ParameterizedTest
  @CsvSource({
    "JAVA_HOME, true",
    "JAVA_HOME2, false",
    "AWS_REGION, true",
    "AWS, false",
    "ESPALIER_TOKEN, false"
  })
  void variablesArePassedByNameOrByTheirBeginning(String name, boolean passed) {
    assertThat(read("", ALL).subprocess().variables().passes(name)).isEqualTo(passed);
    TaskVariables all = new TaskVariables(List.of("*"), Map.of());
    assertThat(all.passes(name)).isEqualTo(!name.startsWith("ESPALIER_"));
  }

  @Test
  void anExportedJobOfBistroIsUntouched() {
    assertThat(TaskKeys.TASK_SUBPROCESS.write(SubprocessOptions.DEFAULT).members().keySet())
        .containsExactlyInAnyOrderElementsOf(
            ((Json.Obj)
                    json(
                        "{'poll_ms': 1, 'max_log_lines_per_poll_interval': 1,"
                            + "'parent_death_signal': 1,"
                            + "'use_canary_pipe': 1, 'cgroups': 1}"))
                .members()
                .keySet());
  }
}
