package io.espalier.core.config;

import static io.espalier.testkit.config.ConfigFixtures.config;
import static io.espalier.testkit.config.ConfigFixtures.parse;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.espalier.core.config.PhysicalResource.Enforcement;
import io.espalier.core.config.PhysicalResource.Kind;
import io.espalier.core.config.keys.TaskKeys;
import io.espalier.core.config.task.KillRequest;
import io.espalier.core.config.task.SubprocessOptions;
import io.espalier.core.problem.Problem;
import io.espalier.core.problem.Result;
import io.espalier.testkit.config.ConfigFixtures;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** C1 to C13 of docs/design/bistro.md#conformance-of-configurations. */
class SettingsConformanceTest {
  private static final String NODES = "'nodes': {'levels': ['level1', 'level2']}";
  private static final String BASE = NODES + ", 'resources': {}";

  private static Settings settings(String members) {
    return config("{'bistro_settings': {" + members + "}}").settings();
  }

  private static List<Problem> errors(String members) {
    Result<Config> result = parse("{'bistro_settings': {" + members + "}}");
    List<Problem> errors = result.problems().stream().filter(Problem::isError).toList();
    assertThat(result.value() == null)
        .as("errors of the settings leave no configuration")
        .isEqualTo(!errors.isEmpty());
    return errors;
  }

  private static void assertOneError(String members, String path) {
    assertThat(errors(members)).extracting(Problem::path).containsExactly("bistro_settings" + path);
  }

  @Test
  void c1_basicSettingsAreTaken() {
    Settings settings =
        settings(
            "'enabled': true, 'working_wait': 0.5," + " 'scheduler': 'ranked_priority', " + BASE);
    assertThat(settings.enabled()).isTrue();
    assertThat(settings.workingWait()).isEqualTo(Duration.ofMillis(500));
    assertThat(settings.policy()).isEqualTo("ranked_priority");
  }

  @Test
  void c1_withoutAnyOfThemTheDefaultsHold() {
    Settings settings = settings(BASE);
    assertThat(settings.enabled())
        .as("docs/design/design.md#where-espalier-differs-from-bistro")
        .isTrue();
    assertThat(settings.workingWait()).isEqualTo(Duration.ofMillis(500));
    assertThat(settings.policy()).isEqualTo("roundrobin");
  }

  @Test
  void c2_anUnknownPolicyIsAnErrorWithASuggestion() {
    assertOneError("'scheduler': 'round_robin', " + BASE, ".scheduler");
    assertThat(errors("'scheduler': 'round_robin', " + BASE).get(0).hint())
        .contains("\"roundrobin\"");
  }

  @Test
  void c3_nodeSourcesKeepOrderNamesAndPrefs() {
    Config config =
        config(
            "{'bistro_settings': {'nodes': {'levels': ['a'], 'node_sources': ["
                + "{'source': 'manual', 'prefs': {'x': ['y']}},"
                + "{'source': 'empty'},"
                + "{'source': 'range_label', 'prefs': {'foo': 1}}]}, 'resources': {}}}");
    assertThat(config.settings().nodeSources())
        .extracting(NodeSourceSpec::source)
        .containsExactly("manual", "empty", "range_label");
    assertThat(config.settings().nodeSources())
        .extracting(source -> source.prefs().toString())
        .containsExactly("{\"x\":[\"y\"]}", "{}", "{\"foo\":1}");
    assertThat(config.settings().nodeSources().get(2).path())
        .isEqualTo("bistro_settings.nodes.node_sources[2]");
    assertThat(config.warnings()).isEmpty();
  }

  @Test
  void c3_eachUnknownNodeSourceIsAnErrorWithAHint() {
    List<Problem> errors =
        errors(
            "'nodes': {'levels': ['a'], 'node_sources': [{'source': 'from_the_moon'},"
                + " {'source': 'manual'}, {'source': 'rangelabel'}]}, 'resources': {}");
    assertThat(errors)
        .extracting(Problem::toString)
        .containsExactly(
            "error 1:77 bistro_settings.nodes.node_sources[0].source: unknown node source (value:"
                + " \"from_the_moon\"); known: add_time, empty, file, http, manual, prometheus,"
                + " range_label, script, sql, zookeeper",
            "error 1:128 bistro_settings.nodes.node_sources[2].source: unknown node source (value:"
                + " \"rangelabel\"); did you mean \"range_label\"?");
  }

  @Test
  void c4_killOrphansIsUnsetWithoutItsKeyAndZeroWithZero() {
    assertThat(settings(BASE).defaults().killOrphansAfter()).isEmpty();
    assertThat(settings("'kill_orphan_tasks_after_sec': 0, " + BASE).defaults().killOrphansAfter())
        .contains(Duration.ZERO);
    assertThat(
            settings("'CAUTION_exit_initial_wait_before_timestamp': 123, " + BASE)
                .exitInitialWaitBefore())
        .isEqualTo(Instant.ofEpochSecond(123));
    assertThat(settings(BASE).exitInitialWaitBefore()).isEqualTo(Instant.EPOCH);
  }

  @ParameterizedTest
  @CsvSource({"false,", "true,0", "0,0", "-1,", "-0.5,", "0.37,370", "7.5,7500"})
  void c4_killOrphansUnderstandsBooleansAndNumbers(String value, Integer millis) {
    assertThat(
            settings("'kill_orphan_tasks_after_sec': " + value + "," + BASE)
                .defaults()
                .killOrphansAfter())
        .isEqualTo(Optional.ofNullable(millis).map(Duration::ofMillis));
  }

  @Test
  void c5_selectorAndNodeOrder() {
    assertThat(settings(BASE).workerSelector()).isEqualTo("roundrobin");
    assertThat(settings("'remote_worker_selector': 'busiest', " + BASE).workerSelector())
        .isEqualTo("busiest");
    assertOneError("'remote_worker_selector': 'laziest', " + BASE, ".remote_worker_selector");
    assertThat(settings(BASE).nodeOrder()).isEqualTo(NodeOrder.RANDOM);
    assertThat(
            settings("'nodes': {'levels': [], 'node_order': 'original'}, 'resources': {}")
                .nodeOrder())
        .isEqualTo(NodeOrder.ORIGINAL);
  }

  @Test
  void c6_taskSubprocessHasTheDocumentedDefaults() {
    assertThat(settings(BASE).defaults().subprocess())
        .isEqualTo(
            SubprocessOptions.asInBistro(
                10, 50, 9, true, new SubprocessOptions.Cgroups("", "", List.of(), false)));
  }

  @Test
  void c6_everyKeyOfTaskSubprocessIsTakenAndSurvivesExport() {
    Settings settings =
        settings(
            "'task_subprocess': {'poll_ms': 111, 'max_log_lines_per_poll_interval': 222,"
                + "'parent_death_signal': 333,"
                + "'use_canary_pipe': false, 'cgroups': {'root': 'root', 'slice': 'slice',"
                + "'subsystems': ['sys1', 'sys2'], 'kill_without_freezer': true}}, "
                + BASE);
    SubprocessOptions options = settings.defaults().subprocess();
    assertThat(options)
        .isEqualTo(
            SubprocessOptions.asInBistro(
                111,
                222,
                333,
                false,
                new SubprocessOptions.Cgroups("root", "slice", List.of("sys1", "sys2"), true)));
    assertThat(
            settings("'task_subprocess': " + TaskKeys.TASK_SUBPROCESS.write(options) + ", " + BASE)
                .defaults()
                .subprocess())
        .isEqualTo(options);
  }

  @Test
  void c7_physicalResources() {
    String resources =
        "'resources': {'worker': {'ram_gb': {'default': 1, 'limit': 2},"
            + "'cpu_millis': {'default': 1, 'limit': 2}, 'gpus': {'default': 0, 'limit': 0}}}";
    Settings settings =
        settings(
            NODES
                + ","
                + resources
                + ", 'physical_resources': {'ram_mb': {'logical_resource': 'ram_gb',"
                + "'multiply_logical_by': 1024, 'enforcement': 'hard',"
                + "'physical_reserve_amount': 1536}, 'cpu_core': {'logical_resource': 'cpu_millis',"
                + "'multiply_logical_by': 0.001, 'enforcement': 'soft'},"
                + "'gpu_card': {'logical_resource': 'gpus'}}");
    assertThat(settings.physicalResources())
        .containsExactlyInAnyOrder(
            new PhysicalResource(Kind.RAM_MB, "ram_gb", 1024, 1536, Enforcement.HARD),
            new PhysicalResource(Kind.CPU_CORE, "cpu_millis", 0.001, 0, Enforcement.SOFT),
            new PhysicalResource(Kind.GPU_CARD, "gpus", 1, 0, Enforcement.NONE));
    assertThat(settings(BASE).physicalResources()).isEmpty();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{'ram_mb': {}} | .ram_mb.logical_resource",
        "{'ram_mb': {'logical_resource': 'nope'}} | .ram_mb.logical_resource",
        "{'ram_mb': {'logical_resource': 'slots'}} | .ram_mb.logical_resource",
        "{'ram_mb': {'logical_resource': 'ram', 'enforcement': 'soft'}} | .ram_mb.enforcement",
        "{'cpu_core': {'logical_resource': 'ram', 'enforcement': 'hard'}} | .cpu_core.enforcement",
        "{'gpu_card': {'logical_resource': 'ram', 'enforcement': 'soft'}} | .gpu_card.enforcement",
        "{'ram_mb': {'logical_resource': 'ram', 'multiply_logical_by': 0}}"
            + " | .ram_mb.multiply_logical_by",
        "{'ram_mb': {'logical_resource': 'ram'}, 'cpu_core': {'logical_resource': 'ram'}}"
            + " | .cpu_core.logical_resource",
        "{'disk_gb': {'logical_resource': 'ram'}} | .disk_gb",
      })
  void c7_brokenPhysicalResourcesAreErrors(String physical, String path) {
    assertOneError(
        NODES
            + ", 'resources': {'worker': {'ram': {'default': 0, 'limit': 1}},"
            + " 'level1': {'slots': {'default': 0, 'limit': 1}}}, 'physical_resources': "
            + physical,
        ".physical_resources" + path);
  }

  @Test
  void c8_killSubprocess() {
    assertThat(settings(BASE).defaults().kill())
        .isEqualTo(new KillRequest(KillRequest.Method.TERM, 0));
    assertThat(
            settings("'kill_subprocess': {'method': 'kill', 'kill_wait_ms': 987}, " + BASE)
                .defaults()
                .kill())
        .isEqualTo(new KillRequest(KillRequest.Method.KILL, 987));
  }

  @Test
  void c9_levelForTasks() {
    assertThat(settings(BASE).defaults().level()).isEqualTo(2);
    assertThat(settings("'level_for_tasks': 'level1', " + BASE).defaults().level()).isEqualTo(1);
    assertThat(settings("'level_for_tasks': 'instance', " + BASE).defaults().level()).isZero();
    assertThat(settings("'nodes': {'levels': []}, 'resources': {}").defaults().level()).isZero();
    assertOneError("'level_for_tasks': 'level3', " + BASE, ".level_for_tasks");
  }

  @Test
  void c10_resourcesAndWorkerOverrides() {
    Settings settings =
        settings(
            NODES
                + ", 'resources': {'worker': {'w': {'default': 1, 'limit': 2, 'weight': 3},"
                + " 'v': {'default': 5, 'limit': 6}},"
                + " 'level1': {'host': {'default': 7, 'limit': 8}},"
                + " 'instance': {'i': {'default': 9, 'limit': 10}}},"
                + " 'worker_resources_override': {'h1:123': {'w': 55}, 'h2:123': {'w': 66}}");
    assertThat(settings.resources().all())
        .as("in the order of the levels")
        .containsExactly(
            new Resource(0, "i", 0, 9, 10, 0),
            new Resource(1, "host", 1, 7, 8, 0),
            new Resource(2, "w", 3, 1, 2, 3),
            new Resource(3, "v", 3, 5, 6, 0));
    assertThat(settings.workerOverrides())
        .isEqualTo(Map.of("h1:123", Map.of("w", 55), "h2:123", Map.of("w", 66)));
  }

  @Test
  void c11_overridesOfUnknownAndNonWorkerResourcesAreErrors() {
    String resources =
        ", 'resources': {'level1': {'host': {'default': 7, 'limit': 8}}},"
            + " 'worker_resources_override': {'h:1': ";
    assertOneError(NODES + resources + "{'nope': 1}}", ".worker_resources_override.h:1.nope");
    assertOneError(NODES + resources + "{'host': 1}}", ".worker_resources_override.h:1.host");
  }

  @Test
  void c12_whatIsRequiredIsMissed() {
    assertOneError("'resources': {}", ".nodes");
    assertOneError("'nodes': {}, 'resources': {}", ".nodes.levels");
    assertOneError(NODES, ".resources");
    assertOneError(
        NODES + ", 'resources': {'level9': {'x': {'default': 1, 'limit': 1}}}",
        ".resources.level9");
    assertThat(parse("{}").problems()).extracting(Problem::path).containsExactly("bistro_settings");
  }

  @Test
  void c13_aFileWithAnObsoleteKeyAndABlankInALevelNameLoads() {
    Config config =
        config(
            "{'bistro_settings': {'enabled': true, 'working_wait': 0.5, 'idle_wait': 5,"
                + "'nodes': {'levels': ['level one', 'level two'], 'node_source': 'range_label',"
                + "'node_source_prefs': {}, 'node_sources': [{'source': 'empty'}]},"
                + "'resources': {'level one': {'r': {'default': 1, 'limit': 1}}}},"
                + "'bistro_job->j': {'owner': 'o', 'filters': {'level two': {}}}}");
    assertThat(config.settings().enabled()).isTrue();
    assertThat(config.settings().workingWait()).isEqualTo(Duration.ofMillis(500));
    assertThat(config.jobs()).containsOnlyKeys("j");
    assertThat(ConfigFixtures.job(config, "j").canRun()).isTrue();
    assertThat(config.warnings())
        .extracting(Problem::path)
        .containsExactly(
            "bistro_settings.idle_wait",
            "bistro_settings.nodes.node_source",
            "bistro_settings.nodes.node_source_prefs");
  }

  @ParameterizedTest
  @ValueSource(strings = {"instance", "worker"})
  void reservedLevelNamesAreErrors(String name) {
    assertOneError("'nodes': {'levels': ['" + name + "']}, 'resources': {}", ".nodes.levels[0]");
  }

  @Test
  void resourceNamesMustBeUniqueOverAllLevels() {
    assertOneError(
        NODES
            + ", 'resources': {'level1': {'r': {'default': 1, 'limit': 1}},"
            + " 'level2': {'r': {'default': 1, 'limit': 1}}}",
        ".resources.level2.r");
  }

  @Test
  void negativeLimitsDefaultsAndWeightsAreErrors() {
    assertThat(
            errors(
                NODES
                    + ", 'resources': {'level1': {"
                    + "'r': {'default': -1, 'limit': -2, 'weight': -3}}}"))
        .extracting(Problem::path)
        .containsExactly(
            "bistro_settings.resources.level1.r.default",
            "bistro_settings.resources.level1.r.limit",
            "bistro_settings.resources.level1.r.weight");
  }

  @Test
  void allErrorsAreReportedAtOnceWithTheirPlaces() {
    Result<Config> result =
        parse(
            """
            {'bistro_settings': {
              'working_wait': 'x',
              'scheduler': 7,
              'level_for_tasks': 'nope',
              'nodes': {'levels': ['a']},
              'resources': {}},
             'bistro_job->j': {'owner': 'o', 'priority': []}}
            """);
    assertThat(result.value()).isNull();
    assertThat(result.problems())
        .filteredOn(Problem::isError)
        .extracting(p -> p.at() + " " + p.path())
        .containsExactly(
            "2:19 bistro_settings.working_wait",
            "3:16 bistro_settings.scheduler",
            "4:22 bistro_settings.level_for_tasks",
            "7:46 bistro_job->j.priority");
  }

  @Test
  void bothSpellingsOfTheDocumentationAreReadWithAWarning() {
    Config config =
        config(
            "{'bistro_settings': {'nodes': {'levels': []}, 'node_order': 'lexicographic',"
                + "'resources': {'worker': {'w': {'default': 1, 'limit': 2}}},"
                + "'worker_resources_overrides': {'h': {'w': 3}},"
                + "'kill_request': {'method': 'kill'}}}");
    assertThat(config.settings().nodeOrder()).isEqualTo(NodeOrder.LEXICOGRAPHIC);
    assertThat(config.settings().workerOverrides()).containsOnlyKeys("h");
    assertThat(config.settings().defaults().kill().method()).isEqualTo(KillRequest.Method.KILL);
    assertThat(config.warnings())
        .extracting(Problem::path)
        .containsExactly(
            "bistro_settings.node_order",
            "bistro_settings.worker_resources_overrides",
            "bistro_settings.kill_request");
  }

  @Test
  void keysThatHaveNoEffectAreReportedAsObsolete() {
    Config config =
        config(
            "{'bistro_settings': {'nodes': {'levels': ['a'], 'node_sources': [{'source': 'empty'}]},"
                + "'resources': {}, 'idle_wait': 7,"
                + "'task_subprocess': {'process_group_leader': true}},"
                + "'bistro_job->j': {'owner': 'o', 'task_subprocess':"
                + "{'process_group_leader': false}}}");
    List<Problem> all = new ArrayList<>(config.warnings());
    all.addAll(ConfigFixtures.job(config, "j").problems());
    assertThat(all)
        .extracting(Problem::path, Problem::message)
        .containsExactly(
            tuple("bistro_settings.idle_wait", "obsolete key"),
            tuple("bistro_settings.task_subprocess.process_group_leader", "obsolete key"),
            tuple("bistro_job->j.task_subprocess.process_group_leader", "obsolete key"));
    assertThat(all).extracting(Problem::hint).doesNotContainNull();
  }

  @Test
  void bothSpellingsOfOneKeyTogetherAreAnError() {
    assertOneError("'kill_request': {}, 'kill_subprocess': {}, " + BASE, ".kill_request");
  }

  @Test
  void typosAreErrorsOtherUnknownKeysWarningsAndCommentsNothing() {
    assertThat(errors("'working_wiat': 1, " + BASE))
        .extracting(Problem::path, Problem::hint)
        .containsExactly(tuple("bistro_settings.working_wiat", "did you mean \"working_wait\"?"));
    Config config =
        config(
            "{'_why': 1, '//': 2, '$schema': 'x', 'jobs': {},"
                + "'bistro_settings': {'_note': 1, '// enabled': false, 'colour': 'red',"
                + "'nodes': {'levels': [], '_': 1}, 'resources': {'_': 'none'}}}");
    assertThat(config.warnings())
        .extracting(Problem::path)
        .containsExactly("jobs", "bistro_settings.colour");
  }

  @Test
  void theHashOfTheNodesFollowsTheirContentOnly() {
    String one = "'nodes': {'levels': ['a'], 'node_sources': [{'source': 'empty'}]}";
    String same = "'nodes' : { 'levels':['a'],\n'node_sources':[ {'source':'empty'} ] }";
    String other = "'nodes': {'levels': ['a'], 'node_sources': [{'source': 'manual'}]}";
    assertThat(settings(one + ", 'resources': {}").nodesHash())
        .hasSize(32)
        .isEqualTo(settings(same + ", 'working_wait': 1, 'resources': {}").nodesHash())
        .isNotEqualTo(settings(other + ", 'resources': {}").nodesHash());
  }
}
