package io.espalier.core.config;

import static io.espalier.testkit.config.ConfigFixtures.parse;
import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.problem.Problem;
import io.espalier.core.problem.Result;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The problems of jobs when levels, resources or all settings are broken. */
class BrokenSettingsTest {
  /** Refers to everything that settings define. */
  private static final String JOB =
      """
      {'owner': 'o', 'priority': [], 'level_for_tasks': 'disk', 'queue': 'night',
       'resources': {'slots': 'many', 'links': 1},
       'filters': {'disk': {'whitelist_regex': '('}, 'host': {'whitelist': 7}},
       'batch': {'max': 20, 'under': 'host', 'per_batch': ['links']},
       'rollout': {'stages': [1, '100%'], 'spread': 'host', 'probes': ['lag']},
       'depends_on': ['other']}""";

  private static final String OTHER = "{'owner': 'o', 'depends_on': ['foo'], 'call': 7}";

  /** The errors of the jobs whatever the settings are. */
  private static final List<String> OF_JOBS =
      List.of(
          "bistro_job->foo.priority",
          "bistro_job->foo.resources.slots",
          "bistro_job->foo.filters.disk.whitelist_regex",
          "bistro_job->foo.filters.host.whitelist",
          "bistro_job->foo.depends_on[0]",
          "bistro_job->other.depends_on[0]",
          "bistro_job->other.call");

  private static List<String> errors(String settings) {
    Result<Config> result =
        parse(
            "{" + settings + "'bistro_job->foo': " + JOB + ", 'bistro_job->other': " + OTHER + "}");
    assertThat(result.value()).isNull();
    return result.problems().stream().filter(Problem::isError).map(Problem::path).toList();
  }

  private static List<String> with(String path, List<String> others) {
    return Stream.concat(Stream.of(path), others.stream()).toList();
  }

  @Test
  void withBrokenLevelsReferencesToThemAreNotChecked() {
    assertThat(errors("'bistro_settings': {'nodes': {'levels': [[]]}, 'resources': {}},"))
        .isEqualTo(with("bistro_settings.nodes.levels[0]", OF_JOBS));
  }

  @Test
  void withoutSettingsTheJobsAreCheckedAllTheSame() {
    assertThat(errors("")).isEqualTo(with("bistro_settings", OF_JOBS));
    assertThat(errors("'bistro_settings': 7,")).isEqualTo(with("bistro_settings", OF_JOBS));
  }

  @Test
  void withABrokenResourceEverythingElseIsChecked() {
    String levels = "'bistro_settings': {'nodes': {'levels': ['host', 'disc']},";
    assertThat(
            errors(
                levels
                    + """
                    'resources': {'host': {'links': {'limit': 5}}},
                    'node_windows': [{'level': 'host', 'windows': ['25:00']}],
                    'node_resources_override': [{'level': 'host', 'name': 'h', 'limits':
                      {'links': 1, 'knots': 1}}],
                    'worker_resources_override': {'w': {'links': -1}},
                    'physical_resources': {'ram_mb': {'logical_resource': 'slots'}},
                    'groups': {'g': {'level': 'host', 'tag': 't'}},
                    'probes': {'p': {'level': 'hots'}},
                    'start_rates': {'hots': 1}},
                    """))
        .containsExactly(
            "bistro_settings.resources.host.links.default",
            "bistro_settings.node_windows[0].windows[0]",
            "bistro_settings.node_resources_override[0].limits.knots",
            "bistro_settings.worker_resources_override.w.links",
            "bistro_settings.worker_resources_override.w.links",
            "bistro_settings.physical_resources.ram_mb.logical_resource",
            "bistro_settings.groups.g.by",
            "bistro_settings.groups.g",
            "bistro_settings.probes.p.source",
            "bistro_settings.probes.p.bad_above",
            "bistro_settings.probes.p.good_below",
            "bistro_settings.probes.p.level",
            "bistro_settings.start_rates.hots",
            "bistro_job->foo.priority",
            "bistro_job->foo.level_for_tasks",
            "bistro_job->foo.queue",
            "bistro_job->foo.resources.slots",
            "bistro_job->foo.resources.slots",
            "bistro_job->foo.filters.disk",
            "bistro_job->foo.filters.disk.whitelist_regex",
            "bistro_job->foo.filters.host.whitelist",
            "bistro_job->foo.rollout.probes[0]",
            "bistro_job->foo.depends_on[0]",
            "bistro_job->other.depends_on[0]",
            "bistro_job->other.call");
  }

  @Test
  void withABrokenLevelOfResourcesOnlyReferencesAreNotChecked() {
    String levels = "'bistro_settings': {'nodes': {'levels': ['host', 'disc']},";
    assertThat(
            errors(
                levels
                    + """
                    'resources': {'hots': {'links': {'limit': 5, 'default': 1}}},
                    'node_windows': [{'level': 'host', 'windows': ['25:00']}],
                    'start_rates': {'host': -1}},
                    """))
        .containsExactly(
            "bistro_settings.resources.hots",
            "bistro_settings.node_windows[0].windows[0]",
            "bistro_settings.start_rates.host",
            "bistro_job->foo.priority",
            "bistro_job->foo.level_for_tasks",
            "bistro_job->foo.resources.slots",
            "bistro_job->foo.filters.disk",
            "bistro_job->foo.filters.disk.whitelist_regex",
            "bistro_job->foo.filters.host.whitelist",
            "bistro_job->foo.depends_on[0]",
            "bistro_job->other.depends_on[0]",
            "bistro_job->other.call");
  }

  @Test
  void everyMistakeInOneObjectIsReported() {
    assertThat(
            parse(
                    """
                    {'bistro_settings': {'nodes': {'levels': ['host']},
                     'resources': {'host': {'r': {'limit': 1, 'default': 1, 'follows': ['p',
                      'nope'], 'floor': 2}}},
                     'probes': {'p': {'level': 'host', 'source': 'push', 'bad_above': 'x',
                       'on_blind': 'hld'}},
                     'start_rates': {'host': {'per_second': 'x', 'burst': 'y'}},
                     'groups': {'g': {'level': 'host', 'by': 'tag:rs', 'max_concurrent': 1,
                       'follows': ['nope']}},
                     'node_resources_override': [{'name': 'h1', 'tag': 't', 'limits': {'r': -1,
                       'zz': 1}}],
                     'node_windows': [{'level': 'host', 'attribute': 'a\\u0000b'}]}}
                    """)
                .problems()
                .stream()
                .filter(Problem::isError)
                .map(Problem::path))
        .containsExactly(
            "bistro_settings.resources.host.r.follows[1]",
            "bistro_settings.resources.host.r.floor",
            "bistro_settings.probes.p.good_below",
            "bistro_settings.probes.p.bad_above",
            "bistro_settings.probes.p.on_blind",
            "bistro_settings.start_rates.host.per_second",
            "bistro_settings.start_rates.host.burst",
            "bistro_settings.groups.g.follows[0]",
            "bistro_settings.node_resources_override[0].level",
            "bistro_settings.node_resources_override[0].tag",
            "bistro_settings.node_resources_override[0].limits.r",
            "bistro_settings.node_resources_override[0].limits.zz",
            "bistro_settings.node_windows[0].attribute");
  }

  @Test
  void whatNotificationsAreRestrictedToIsLookedFor() {
    assertThat(
            parse(
                    """
                    {'bistro_settings': {'nodes': {'levels': ['host']}, 'resources': {},
                     'notifications': {'n': {'webhook': {'url': 'http://h/', 'secret_file': 's'},
                       'when': {'jobs': ['foo', 'fooo', ''], 'sets': ['nightly', 'x'],
                         'queues': ['default', 'q']}}}},
                     'bistro_job->foo': {'owner': 'o', 'set': 'nightly'}}
                    """)
                .problems())
        .extracting(Problem::path)
        .containsExactly(
            "bistro_settings.nodes.node_sources",
            "bistro_settings.notifications.n.when.jobs[1]",
            "bistro_settings.notifications.n.when.jobs[2]",
            "bistro_settings.notifications.n.when.sets[1]",
            "bistro_settings.notifications.n.when.queues[1]");
  }
}
