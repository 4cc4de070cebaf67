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
  void withABrokenResourceOnlyLevelsAreChecked() {
    String levels = "'bistro_settings': {'nodes': {'levels': ['host', 'disc']},";
    assertThat(errors(levels + "'resources': {'host': {'links': {'limit': 5}}}},"))
        .containsExactly(
            "bistro_settings.resources.host.links.default",
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
}
