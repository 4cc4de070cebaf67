package io.espalier.core.config;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.config.write.BistroJobWriter;
import io.espalier.core.json.Json;
import io.espalier.core.json.JsonWriter;
import io.espalier.core.problem.Problem;
import io.espalier.core.problem.Result;
import io.espalier.json.JsonReader;
import io.espalier.testkit.config.ConfigFixtures;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Whatever a document says, parser and export answer with problems, never with exceptions. */
class ConfigFuzzTest {
  private static final Json DOCUMENT =
      ConfigFixtures.json(
          """
          {'bistro_settings': {
             'enabled': true, 'working_wait': 0.5, 'scheduler': 'long_tail',
             'remote_worker_selector': 'busiest', 'backoff': [1, 2, 'repeat'],
             'nodes': {'levels': ['host', 'my db'], 'node_order': 'original', 'node_sources':
               [{'source': 'manual', 'prefs': {'a': ['b']}}, {'source': 'empty'}]},
             'resources': {'host': {'slots': {'default': 1, 'limit': 2}},
               'worker': {'ram': {'default': 0, 'limit': 9, 'weight': 2}}},
             'level_for_tasks': 'my db', 'worker_resources_override': {'h:1': {'ram': 3}},
             'physical_resources': {'ram_mb': {'logical_resource': 'ram',
               'multiply_logical_by': 2.5, 'enforcement': 'hard', 'physical_reserve_amount': 1}},
             'kill_orphan_tasks_after_sec': 3, 'kill_subprocess': {'method': 'kill'},
             'task_subprocess': {'poll_ms': 7, 'cgroups': {'root': 'r', 'subsystems': ['cpu']},
               'umask': '027', 'nice': 5, 'ionice': {'class': 'idle', 'level': 0}, 'run_as': 'a:b',
               'pass_environment': ['A*'], 'environment': {'B': 'c', 'D': 1},
               'cgroup_limits': {'memory_mb': 5, 'memory_swap_mb': 0, 'cpu_weight': 10,
                 'cpu_quota_percent': 150, 'pids_max': 50, 'io_weight': 5, 'enforce': 'required'}},
             'timeout_sec': 5.5, 'no_output_timeout_sec': 2, 'redact': ['x+'],
             'log_retention': {'days': 2, 'max_mb': 3},
             'CAUTION_exit_initial_wait_before_timestamp': 5},
           'bistro_job->one': {'owner': 'o', 'priority': 2, 'config': {'x': [1]},
             'resources': {'slots': 2}, 'depends_on': ['two'], 'command': ['a', 'b'],
             'filters': {'my db': {'whitelist': ['a'], 'whitelist_regex': 'b+', 'blacklist': ['c'],
               'blacklist_regex': 'd', 'tag_whitelist': ['e'], 'fraction_of_nodes': 0.3}},
             'level_for_host_placement': 'host', 'host_placement': 'h', 'status_from': 'exit_code',
             'backoff': [5, 'fail'], 'kill_orphan_tasks_after_sec': true, 'version_id': 3,
             'create_time': 1, 'modify_time': 2, 'task_subprocess': {'use_canary_pipe': false},
             'kill_subprocess': {'kill_wait_ms': 9}, 'timeout_sec': 7, 'redact': ['y'],
             'complete_by': '2026-11-22T06:00:00+01:00', 'no_output_timeout_sec': false,
             'log_retention': {'days': false}},
           'bistro_job->two': {'owner': 'o', 'depends_on': ['one'], 'errors': {}}}
          """);

  private static final List<Json> VALUES =
      List.of(
          ConfigFixtures.json("null"),
          ConfigFixtures.json("true"),
          ConfigFixtures.json("-1"),
          ConfigFixtures.json("0"),
          ConfigFixtures.json("1.5"),
          ConfigFixtures.json("1e400"),
          ConfigFixtures.json("1e-999999999"),
          ConfigFixtures.json("99999999999999999999"),
          ConfigFixtures.json("''"),
          ConfigFixtures.json("'host'"),
          ConfigFixtures.json("'instance'"),
          ConfigFixtures.json("'worker'"),
          ConfigFixtures.json("'('"),
          ConfigFixtures.json("'1e99999999999'"),
          ConfigFixtures.json("'\\u0000 \\n'"),
          ConfigFixtures.json("[]"),
          ConfigFixtures.json("[[], null, 'repeat', 3, 'one']"),
          ConfigFixtures.json("{}"),
          ConfigFixtures.json("{'': {'': {}}, 'host': 1, '_': 0}"));

  private static final List<String> KEYS =
      List.of(
          "", "_", "//", "owner", "onwer", "host", "worker", "a.b[0]", "\"", "bistro_job->", "x");

  static IntStream seeds() {
    return IntStream.rangeClosed(1, 40);
  }

  private static Json mutated(Json value, Random random) {
    return random.nextInt(25) == 0
        ? VALUES.get(random.nextInt(VALUES.size()))
        : mutatedMembers(value, random);
  }

  private static Json mutatedMembers(Json value, Random random) {
    if (value instanceof Json.Arr array) {
      List<Json> items = new ArrayList<>();
      array.items().forEach(item -> items.add(mutated(item, random)));
      return new Json.Arr(items);
    }
    if (value instanceof Json.Obj object) {
      Map<String, Json> members = new LinkedHashMap<>();
      object
          .members()
          .forEach(
              (key, member) -> {
                int chance = random.nextInt(40);
                String name = chance == 0 ? KEYS.get(random.nextInt(KEYS.size())) : key;
                if (chance != 1) {
                  members.put(name, mutated(member, random));
                }
              });
      return new Json.Obj(members);
    }
    return value;
  }

  @ParameterizedTest
  @MethodSource("seeds")
  void everyMutationGivesAConfigurationOrErrorsWithTheirPlaces(int seed) {
    Random random = new Random(seed);
    for (int round = 0; round < 100; round++) {
      Json.Obj changed = (Json.Obj) mutatedMembers(DOCUMENT, random);
      // Most mutations break the settings, and then nothing is said of jobs.
      boolean onlyJobs = random.nextInt(3) > 0;
      Json.Obj original = (Json.Obj) DOCUMENT;
      Json settings = Objects.requireNonNull(original.get("bistro_settings"));
      String text =
          JsonWriter.pretty(onlyJobs ? changed.with("bistro_settings", settings) : changed);
      Json document = Objects.requireNonNull(JsonReader.parse(text).value());
      Result<Config> result = ConfigFixtures.parser().parse(document);
      assertThat(result.problems()).allMatch(problem -> problem.at().line() > 0);
      Config config = result.value();
      if (config == null) {
        assertThat(result.hasErrors()).as(text).isTrue();
        continue;
      }
      assertThat(result.problems()).hasSameSizeAs(config.problems());
      for (Job job : config.jobs().values()) {
        checkExport(config, job, document);
      }
    }
  }

  private static void checkExport(Config config, Job job, Json document) {
    Json.Obj export = BistroJobWriter.toJson(job, config.settings());
    assertThat(BistroJobWriter.errors(job).isEmpty()).as("%s", job).isEqualTo(job.isValid());
    Json again = ((Json.Obj) document).with("bistro_job->" + job.name(), export);
    Job reread = ConfigFixtures.job(reparsed(again), job.name());
    // A cycle is found at another place once the broken parts are gone; all else is stable.
    if (job.problems().stream().noneMatch(Problem::isError)) {
      assertThat(BistroJobWriter.toJson(reread, config.settings())).isEqualTo(export);
    } else {
      assertThat(reread.isValid()).isFalse();
    }
  }

  private static Config reparsed(Json document) {
    return Objects.requireNonNull(ConfigFixtures.parser().parse(document).value());
  }
}
