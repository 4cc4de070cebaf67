package io.espalier.core.config;

import static io.espalier.testkit.config.ConfigFixtures.job;
import static io.espalier.testkit.config.ConfigFixtures.json;
import static io.espalier.testkit.config.ConfigFixtures.withJobs;
import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.config.keys.TaskKeys;
import io.espalier.core.config.task.Backoff;
import io.espalier.core.config.task.KillRequest;
import io.espalier.core.config.task.StatusSource;
import io.espalier.core.config.task.SubprocessOptions;
import io.espalier.core.config.write.BistroJobWriter;
import io.espalier.core.json.Json;
import io.espalier.core.problem.Problem;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** C17 to C27 of docs/design/bistro.md#conformance-of-configurations. */
class JobConformanceTest {
  private static final String FULL =
      "'enabled': false, 'owner': 'owner', 'priority': 0.5, 'resources': {'concurrency': 2},"
          + "'config': {'key': 'val'}, 'filters': {'level2': {'whitelist_regex': 'abc'}},"
          + "'depends_on': ['job1', 'job2'], 'version_id': 123456789";

  private static String settings(String more) {
    return "{'nodes': {'levels': ['level1', 'level2'], 'node_sources': [{'source': 'empty'}]},"
        + "'resources': {'instance': {'concurrency': {'default': 1, 'limit': 10}}}"
        + (more.isEmpty() ? "" : ", " + more)
        + "}";
  }

  private static Job read(String settings, String members) {
    return job(withJobs(settings(settings), "foo", "{" + members + "}"), "foo");
  }

  private static Job read(String members) {
    return read("", members);
  }

  private static List<String> errorPaths(Job job) {
    return job.problems().stream().filter(Problem::isError).map(Problem::path).toList();
  }

  /** Follows a path through a report. */
  private static Json at(Json.Obj report, String... keys) {
    Json value = report;
    for (String key : keys) {
      value = Objects.requireNonNull(((Json.Obj) value).get(key), key + " in " + value);
    }
    return value;
  }

  private static void assertReportedAt(Job job, String value, String... path) {
    Json.Obj report = BistroJobWriter.errors(job);
    for (String key : path) {
      assertThat(report.members()).as("nothing beside the way to the value").hasSize(1);
      report = (Json.Obj) at(report, "nested", key);
    }
    assertThat(report.members()).containsOnlyKeys("error", "value");
    assertThat(report.get("value")).isEqualTo(json(value));
  }

  @Test
  void c17_aValidDisabledJobCannotRunAndEnablingHelps() {
    Job job = read(FULL);
    assertThat(job.isValid()).isTrue();
    assertThat(job.canRun()).isFalse();
    assertThat(read(FULL.replace("false", "true")).canRun()).isTrue();
    assertThat(job.needs()).containsExactly(2);
    assertThat(job.config()).isEqualTo(json("{'key': 'val'}"));
    assertThat(job.dependsOn()).containsExactly("job1", "job2");
    assertThat(job.owner()).isEqualTo("owner");
    assertThat(job.priority()).isEqualTo(0.5);
  }

  @Test
  void c17_theExportIsStable() {
    Config config = withJobs(settings(""), "foo", "{" + FULL + "}");
    Json.Obj export = BistroJobWriter.toJson(job(config, "foo"), config.settings());
    assertThat(export.get("version_id")).isEqualTo(Json.of(123456789));
    Config again = withJobs(settings(""), "foo", export.toString());
    assertThat(BistroJobWriter.toJson(job(again, "foo"), again.settings())).isEqualTo(export);
    assertThat(export)
        .isEqualTo(
            json(
                "{'enabled': false, 'owner': 'owner', 'level_for_tasks': 'level2',"
                    + "'priority': 0.5, 'config': {'key': 'val'}, 'backoff':"
                    + "[15, 30, 60, 300, 900, 3600, 7200, 21600, 86400, 'repeat'],"
                    + "'kill_orphan_tasks_after_sec': false, 'task_subprocess': {'poll_ms': 10,"
                    + "'max_log_lines_per_poll_interval': 50, 'parent_death_signal': 9,"
                    + "'use_canary_pipe': true, 'cgroups':"
                    + "{'root': '', 'slice': '', 'subsystems': [], 'kill_without_freezer': false}},"
                    + "'kill_subprocess': {'method': 'term', 'kill_wait_ms': 0},"
                    + "'resources': {'concurrency': 2},"
                    + "'filters': {'level2': {'whitelist_regex': 'abc'}},"
                    + "'depends_on': ['job1', 'job2'], 'version_id': 123456789}"));
  }

  @Test
  void c17_withoutNeedsTheDefaultsHold() {
    assertThat(read("'owner': 'o'").needs()).containsExactly(1);
    assertThat(read("'owner': 'o'").versionId()).isEqualTo(-1);
    assertThat(errorPaths(read("'owner': 'o', 'resources': {'concurency': 2}")))
        .containsExactly("bistro_job->foo.resources.concurency");
  }

  @ParameterizedTest
  @CsvSource(
      nullValues = "-",
      value = {
        "-, -, -",
        "false, -, -",
        "true, -, 0",
        "true, 0.37, 370",
        "-, 0.37, 370",
        "5, false, -",
        "5, -, 5000"
      })
  void c18_killOrphansIsInheritedAndOverridden(
      @Nullable String global, @Nullable String own, @Nullable Long millis) {
    String key = "'kill_orphan_tasks_after_sec': ";
    Job job =
        read(global == null ? "" : key + global, own == null ? FULL : FULL + ", " + key + own);
    assertThat(job.killOrphansAfter())
        .isEqualTo(Optional.ofNullable(millis).map(Duration::ofMillis));
  }

  @Test
  void c19_eachKeyOfTaskSubprocessIsInheritedByItself() {
    String global =
        "'task_subprocess': {'poll_ms': 111, 'max_log_lines_per_poll_interval': 222,"
            + "'parent_death_signal': 333,"
            + "'use_canary_pipe': false}";
    SubprocessOptions.Cgroups noCgroups = SubprocessOptions.DEFAULT.cgroups();
    assertThat(read(FULL).subprocess()).isEqualTo(SubprocessOptions.DEFAULT);
    assertThat(read(global, FULL).subprocess())
        .isEqualTo(SubprocessOptions.asInBistro(111, 222, 333, false, noCgroups));
    Job job =
        read(
            global,
            FULL
                + ", 'task_subprocess': {'max_log_lines_per_poll_interval': 444,"
                + "'use_canary_pipe': true}");
    assertThat(job.subprocess())
        .isEqualTo(SubprocessOptions.asInBistro(111, 444, 333, true, noCgroups));
    assertThat(TaskKeys.TASK_SUBPROCESS.write(job.subprocess()))
        .isEqualTo(
            json(
                "{'poll_ms': 111, 'max_log_lines_per_poll_interval': 444,"
                    + "'parent_death_signal': 333,"
                    + "'use_canary_pipe': true, 'cgroups': {'root': '', 'slice': '',"
                    + "'subsystems': [], 'kill_without_freezer': false}}"));
  }

  @Test
  void c20_eachKeyOfKillSubprocessIsInheritedByItself() {
    String global = "'kill_subprocess': {'method': 'kill', 'kill_wait_ms': 987}";
    assertThat(read(FULL).kill()).isEqualTo(KillRequest.DEFAULT);
    assertThat(read(global, FULL).kill()).isEqualTo(new KillRequest(KillRequest.Method.KILL, 987));
    Job job = read(global, FULL + ", 'kill_subprocess': {'method': 'term_wait_kill'}");
    assertThat(job.kill()).isEqualTo(new KillRequest(KillRequest.Method.TERM_WAIT_KILL, 987));
    assertThat(TaskKeys.KILL_SUBPROCESS.write(job.kill()))
        .isEqualTo(json("{'method': 'term_wait_kill', 'kill_wait_ms': 987}"));
  }

  @Test
  void c21_command() {
    assertThat(read(FULL).command()).isEmpty();
    Config config = withJobs(settings(""), "foo", "{" + FULL + ", 'command': ['a', 'b', 'c']}");
    assertThat(job(config, "foo").command()).containsExactly("a", "b", "c");
    assertThat(BistroJobWriter.toJson(job(config, "foo"), config.settings()).get("command"))
        .isEqualTo(json("['a', 'b', 'c']"));
  }

  @Test
  void c22_hostPlacement() {
    Job bad = read(FULL + ", 'level_for_host_placement': 'not a level'");
    assertThat(bad.isValid()).isFalse();
    assertReportedAt(bad, "'not a level'", "level_for_host_placement");

    Job both = read(FULL + ", 'level_for_host_placement': 'level2', 'host_placement': 'some.host'");
    assertThat(both.isValid()).isTrue();
    Job host = read(FULL + ", 'host_placement': 'some.host'");
    assertThat(host.isValid()).isTrue();
    assertThat(host.levelForHostPlacement()).isEmpty();
    assertThat(host.hostPlacement()).isEqualTo("some.host");
    Job level = read(FULL + ", 'level_for_host_placement': 'level2'");
    assertThat(level.isValid()).isTrue();
    assertThat(level.levelForHostPlacement()).contains(2);
    assertThat(level.hostPlacement()).isEmpty();
  }

  @Test
  void c23_levelForTasks() {
    assertThat(read(FULL).level()).isEqualTo(2);
    assertThat(read("'level_for_tasks': 'level1'", FULL).level()).isEqualTo(1);
    assertThat(
            read("'level_for_tasks': 'level1'", FULL + ", 'level_for_tasks': 'instance'").level())
        .isZero();
    Job bad = read(FULL.replace("false", "true") + ", 'level_for_tasks': 'invalid_level'");
    assertThat(bad.isValid()).isFalse();
    assertThat(bad.canRun()).isFalse();
    assertReportedAt(bad, "'invalid_level'", "level_for_tasks");
  }

  @Test
  void c24_aFilterUnderAnUnknownLevelIsAnErrorAtTheLevel() {
    Job job = read("'owner': 'owner', 'filters': {'invalid_level': {'whitelist_regex': 'abc'}}");
    assertThat(job.isValid()).isFalse();
    assertReportedAt(job, "{'whitelist_regex': 'abc'}", "filters", "invalid_level");
  }

  private static final String NO_LEVELS =
      "{'nodes': {'levels': []}, 'resources': {},"
          + "'task_subprocess': {'cgroups': {'subsystems': ['config_subsys']}}}";
  private static final String MANY_ERRORS =
      "{'priority': 1.3, 'depends_on': ['job1', 'job2', ['not a string']],"
          + "'task_subprocess': {'cgroups': {'subsystems': ['subsys1', 'subsys2']}},"
          + "'version_id': 'not an int'}";

  @Test
  void c25_theReportHoldsEveryErrorWithItsValueAndGoodPartsAreKept() {
    Config config = withJobs(NO_LEVELS, "foo", MANY_ERRORS);
    Job job = job(config, "foo");
    assertThat(job.canRun()).isFalse();
    Json.Obj report = BistroJobWriter.errors(job);
    assertThat(report.members()).containsOnlyKeys("key_errors", "value", "nested");
    assertThat(((Json.Obj) at(report, "key_errors")).members()).containsOnlyKeys("owner");
    assertThat(at(report, "value")).isEqualTo(json(MANY_ERRORS));
    assertThat(((Json.Obj) at(report, "nested")).members())
        .containsOnlyKeys("depends_on", "version_id");
    Json.Obj dependency = (Json.Obj) at(report, "nested", "depends_on", "nested", "2");
    assertThat(dependency.members()).containsOnlyKeys("error", "value");
    assertThat(dependency.get("value")).isEqualTo(json("['not a string']"));
    Json.Obj version = (Json.Obj) at(report, "nested", "version_id");
    assertThat(version.members()).containsOnlyKeys("error", "value");
    assertThat(version.get("value")).isEqualTo(json("'not an int'"));

    Json.Obj export = BistroJobWriter.toJson(job, config.settings());
    assertThat(export.members())
        .containsOnlyKeys(
            "enabled",
            "owner",
            "level_for_tasks",
            "priority",
            "config",
            "backoff",
            "kill_orphan_tasks_after_sec",
            "task_subprocess",
            "kill_subprocess",
            "depends_on",
            "errors");
    assertThat(export.get("priority")).isEqualTo(Json.of(1.3));
    assertThat(export.get("depends_on")).isEqualTo(json("['job1', 'job2']"));
    assertThat(export.get("enabled")).isEqualTo(Json.of(true));
    assertThat(export.get("owner")).isEqualTo(Json.of(""));
    assertThat(export.get("level_for_tasks")).isEqualTo(Json.of("instance"));
    assertThat(export.get("kill_orphan_tasks_after_sec")).isEqualTo(Json.of(false));
    assertThat(export.get("errors")).isEqualTo(report);
  }

  @Test
  void c26_subsystemsOfTheJobReplaceThoseOfTheSettings() {
    Config config = withJobs(NO_LEVELS, "foo", MANY_ERRORS, "bar", "{'owner': 'o'}");
    assertThat(job(config, "foo").subprocess().cgroups().subsystems())
        .containsExactly("subsys1", "subsys2");
    assertThat(job(config, "bar").subprocess().cgroups().subsystems())
        .containsExactly("config_subsys");
  }

  @Test
  void c27_anOldReportIsNestedOnlyWhenThereIsANewError() {
    Config config = withJobs(NO_LEVELS, "foo", MANY_ERRORS);
    Json.Obj export = BistroJobWriter.toJson(job(config, "foo"), config.settings());
    Json.Obj old = BistroJobWriter.errors(job(config, "foo"));

    Config again = withJobs(NO_LEVELS, "foo", export.toString());
    assertThat(job(again, "foo").isValid()).as("until a human removes the report").isFalse();
    assertThat(BistroJobWriter.toJson(job(again, "foo"), again.settings()))
        .as("saving and loading is stable")
        .isEqualTo(export);

    Json.Obj edited =
        export
            .with("level_for_host_placement", Json.of("an invalid level"))
            .with("owner", Json.of("a new owner"));
    Config worse = withJobs(NO_LEVELS, "foo", edited.toString());
    Json.Obj report = BistroJobWriter.errors(job(worse, "foo"));
    assertThat(report.members()).containsOnlyKeys("nested");
    assertThat(((Json.Obj) at(report, "nested")).members())
        .containsOnlyKeys("level_for_host_placement", "errors");
    assertThat(at(report, "nested", "errors", "error").toString()).contains("Pre-existing errors");
    assertThat(at(report, "nested", "errors", "value")).isEqualTo(old);
    assertThat(BistroJobWriter.toJson(job(worse, "foo"), worse.settings()))
        .isEqualTo(edited.without("level_for_host_placement").with("errors", report));
  }

  @Test
  void aJobOfTheWrongKindStaysVisibleWithItsError() {
    Config config = withJobs(settings(""), "foo", "[]", "bar", "{'owner': 'o'}");
    assertThat(errorPaths(job(config, "foo"))).containsExactly("bistro_job->foo");
    assertThat(BistroJobWriter.errors(job(config, "foo")).members())
        .containsOnlyKeys("error", "value");
    assertThat(job(config, "bar").canRun()).as("others do not suffer").isTrue();
  }

  @ParameterizedTest
  @ValueSource(strings = {"a", "A1", "_x", "9", "backup.db-1:eu", "a..b"})
  void goodNames(String name) {
    assertThat(job(withJobs(settings(""), name, "{'owner': 'o'}"), name).isValid()).isTrue();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"", ".", "..", "../x", "a/b", "-rf", "a b", ".hidden", "é", "x\\u0000", "a%2fb"})
  void badNames(String name) {
    Config config = withJobs(settings(""), name, "{'owner': 'o'}");
    Job job = config.jobs().values().iterator().next();
    assertThat(job.isValid()).isFalse();
    assertThat(job.problems()).hasSize(1);
    assertThat(BistroJobWriter.errors(job).members()).containsOnlyKeys("error", "value");
  }

  @Test
  void namesOf240CharactersAreTooLong() {
    Config config =
        withJobs(
            settings(""), "a".repeat(239), "{'owner': 'o'}", "a".repeat(240), "{'owner': 'o'}");
    assertThat(config.jobs().values().stream().map(Job::isValid)).containsExactly(true, false);
  }

  @Test
  void typosInAJobAreErrorsOfThatJobOnly() {
    Config config =
        withJobs(
            settings(""),
            "foo",
            "{'owner': 'o', 'dependson': ['x'], 'colour': 1, '_c': 1}",
            "bar",
            "{'owner': 'o'}");
    assertThat(job(config, "foo").problems())
        .extracting(p -> p.severity() + " " + p.path())
        .containsExactly("ERROR bistro_job->foo.dependson", "WARNING bistro_job->foo.colour");
    assertThat(job(config, "bar").canRun()).isTrue();
  }

  @Test
  void aJobMayWaitForWholeJobs() {
    String key = "run_only_after_all_nodes_are_done_for";
    Job job =
        read(
            "'owner': 'o', '"
                + key
                + "': ['x', {'job': 'y', 'done_percent': 12.5, 'tags': ['a', 'b']}, 'x']");
    assertThat(job.afterJobs())
        .containsExactly(
            WholeJobDependency.of("x"), new WholeJobDependency("y", 12.5, List.of("a", "b")));
    assertThat(job.isValid()).isTrue();
    assertThat(job.problems())
        .extracting(p -> p.severity() + " " + p.path())
        .containsExactly(
            "WARNING bistro_job->foo." + key + "[0]", "WARNING bistro_job->foo." + key + "[1].job");
  }

  @Test
  void whatIsWrongWithAWholeJobIsSaidWhereItStands() {
    String key = "run_only_after_all_nodes_are_done_for";
    Job job =
        read("'owner': 'o', '" + key + "': [null, {'done_percent': 0}, {'job': 'x', 'tag': []}]");
    assertThat(errorPaths(job))
        .containsExactlyInAnyOrder(
            "bistro_job->foo." + key + "[0]",
            "bistro_job->foo." + key + "[1].job",
            "bistro_job->foo." + key + "[1].done_percent",
            "bistro_job->foo." + key + "[2].tag");
  }

  @Test
  void jobsThatWaitForEachOtherInEitherWayAreErrors() {
    Config config =
        withJobs(
            settings(""),
            "foo",
            "{'owner': 'o', 'depends_on': ['bar']}",
            "bar",
            "{'owner': 'o', 'run_only_after_all_nodes_are_done_for': [{'job': 'foo'}]}");
    assertThat(errorPaths(job(config, "bar")))
        .containsExactly("bistro_job->bar.run_only_after_all_nodes_are_done_for[0].job");
    assertThat(errorPaths(job(config, "foo"))).containsExactly("bistro_job->foo.depends_on[0]");
  }

  @Test
  void otherJobKeys() {
    Job job =
        read(
            "'owner': 'o', 'status_from': 'exit_code', 'create_time': 5, 'modify_time': '6',"
                + "'backoff': [7, 'fail']");
    assertThat(job.problems()).isEmpty();
    assertThat(job.statusFrom()).isEqualTo(StatusSource.EXIT_CODE);
    assertThat(job.createTime()).isEqualTo(5);
    assertThat(job.modifyTime()).isEqualTo(6);
    assertThat(job.backoff()).isEqualTo(new Backoff(List.of(7), false));
    assertThat(read("'owner': 'o'").statusFrom()).isEqualTo(StatusSource.STATUS_LINE);
  }

  @Test
  void aBrokenBackoffLeavesTheInheritedOne() {
    Job job = read("'backoff': [3]", "'owner': 'o', 'backoff': [0]");
    assertThat(job.isValid()).isFalse();
    assertThat(job.backoff()).isEqualTo(new Backoff(List.of(3), false));
  }

  @Test
  void anEmptyReportOfErrorsIsNone() {
    assertThat(read("'owner': 'o', 'errors': {}").isValid()).isTrue();
  }
}
