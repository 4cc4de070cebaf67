package io.espalier.core.config;

import static io.espalier.testkit.config.ConfigFixtures.job;
import static io.espalier.testkit.config.ConfigFixtures.withJobs;
import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.config.keys.JobFilterKeys;
import io.espalier.core.config.write.BistroJobWriter;
import io.espalier.core.json.Json;
import io.espalier.core.problem.Problem;
import io.espalier.testkit.config.ConfigFixtures;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** F1 to F9 of docs/design/bistro.md#conformance-of-filters. */
class FilterConformanceTest {
  private static final String SETTINGS =
      "{'nodes': {'levels': ['level1', 'level2'], 'node_sources': [{'source': 'empty'}]},"
          + "'resources': {}}";

  private static Job jobWith(String members) {
    return job(withJobs(SETTINGS, "job_name", "{'owner': 'o', " + members + "}"), "job_name");
  }

  private static Job filtered(String filter) {
    return jobWith("'filters': {'level2': " + filter + "}");
  }

  private static JobFilter filter(String text) {
    Job job = filtered(text);
    assertThat(job.isValid()).as(job.problems().toString()).isTrue();
    return job.filters().getOrDefault(2, JobFilter.ALL);
  }

  private static boolean passes(String filter, String node, String... tags) {
    return FilterEvaluator.passes(filter(filter), "job_name", node, Set.of(tags));
  }

  private static Set<String> passing(String job, double fraction) {
    JobFilter filter = new JobFilter(Set.of(), null, Set.of(), null, Set.of(), fraction);
    Set<String> nodes = new HashSet<>();
    for (int i = 0; i < 10_000; i++) {
      if (FilterEvaluator.passes(filter, job, String.valueOf(i), Set.of())) {
        nodes.add(String.valueOf(i));
      }
    }
    return nodes;
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{}",
        "{'fraction_of_nodes': 1.0}",
        "{'whitelist': [], 'whitelist_regex': '', 'blacklist': [], 'tag_whitelist': []}"
      })
  void f1_trivialFiltersPassEverythingAndCountAsNone(String text) {
    assertThat(filtered(text).filters()).isEmpty();
    assertThat(passes(text, "anything")).isTrue();
    assertThat(filter(text)).isEqualTo(JobFilter.ALL);
  }

  @Test
  void f2_exactNames() {
    assertThat(passes("{'whitelist': ['a', 'b']}", "a")).isTrue();
    assertThat(passes("{'whitelist': ['a', 'b']}", "c")).isFalse();
    assertThat(passes("{'blacklist': ['a', 'b']}", "a")).isFalse();
    assertThat(passes("{'blacklist': ['a', 'b']}", "c")).isTrue();
    assertThat(passes("{'whitelist': ['a', 'b'], 'blacklist': ['a']}", "a")).isFalse();
    assertThat(passes("{'whitelist': [7]}", "7")).as("a number is a name").isTrue();
  }

  @Test
  void f3_regexesAreSearchedAnywhere() {
    assertThat(passes("{'whitelist_regex': 'dbs.*'}", "dbs.123")).isTrue();
    assertThat(passes("{'whitelist_regex': 'dbs.*'}", "abc")).isFalse();
    assertThat(passes("{'blacklist_regex': 'dbs.*'}", "dbs.123")).isFalse();
    assertThat(passes("{'blacklist_regex': 'dbs.*'}", "abc")).isTrue();
    assertThat(passes("{'whitelist_regex': 'bs'}", "dbs1")).isTrue();
    assertThat(passes("{'whitelist_regex': '^bs'}", "dbs1")).isFalse();
  }

  @ParameterizedTest
  @CsvSource({"'', false", "x, false", "abc, true", "x|car, true", "x|y|abc, true"})
  void f4_oneTagMustMatch(String tags, boolean passes) {
    String[] all = tags.isEmpty() ? new String[0] : tags.split("\\|");
    assertThat(passes("{'tag_whitelist': ['abc', 'car']}", "n", all)).isEqualTo(passes);
  }

  @Test
  void f5_halfOfTheNodesPassAtOneHalf() {
    assertThat(passing("job", 0.5).size()).isBetween(4900, 5100);
    assertThat(passing("job", 0.01).size()).isBetween(50, 150);
  }

  @Test
  void f6_smallerFractionsAreSubsets() {
    assertThat(passing("job", 0.5)).containsAll(passing("job", 0.25));
    assertThat(passing("job", 0.25)).containsAll(passing("job", 0.001));
  }

  @Test
  void f7_jobsChooseDifferentNodes() {
    Set<String> both = passing("job1", 0.5);
    both.retainAll(passing("job2", 0.5));
    assertThat(both.size()).isBetween(2300, 2700);
  }

  @Test
  void f8_equality() {
    String all =
        "{'whitelist': ['a', 'b'], 'whitelist_regex': 'r', 'blacklist': ['c'],"
            + "'blacklist_regex': 's', 'tag_whitelist': ['t'], 'fraction_of_nodes': 0.5}";
    assertThat(filter(all))
        .isEqualTo(filter(all.replace("['a', 'b']", "['b', 'a']")))
        .hasSameHashCodeAs(filter(all));
    for (String change : List.of("'a'", "'r'", "'c'", "'s'", "'t'")) {
      assertThat(filter(all.replace(change, "'other'"))).isNotEqualTo(filter(all));
    }
    assertThat(filter(all.replace("0.5", "0.6"))).isNotEqualTo(filter(all));
  }

  @Test
  void f9_zeroPassesNothingAndWhatIsNoFractionIsAnError() {
    assertThat(passing("job", 0)).isEmpty();
    assertThat(filter("{'fraction_of_nodes': 0}").isTrivial()).isFalse();
    for (String bad : List.of("-0.1", "1.01", "1e400", "'x'")) {
      Job job = filtered("{'fraction_of_nodes': " + bad + "}");
      assertThat(job.problems())
          .extracting(Problem::path)
          .containsExactly("bistro_job->job_name.filters.level2.fraction_of_nodes");
      assertThat(job.filters()).isEmpty();
    }
  }

  @ParameterizedTest
  @CsvSource({
    "job, node, 0.9297902769586227",
    "checksum, host7.example.com, 0.8092214685870225",
    "a, '', 0.09861851499502239",
    "ä, дом\uD83C\uDFE0, 0.8707339769309005"
  })
  void theFractionHashNeverChanges(String job, String node, double point) {
    assertThat(FilterEvaluator.point(job, node)).isEqualTo(point);
  }

  @Test
  void brokenRegexesAreErrorsOfTheJob() {
    for (String bad : List.of("(", "[a", "*", "a".repeat(10_001), "(".repeat(5000))) {
      Job job = filtered("{'whitelist_regex': '" + bad + "'}");
      assertThat(job.problems())
          .extracting(Problem::path)
          .containsExactly("bistro_job->job_name.filters.level2.whitelist_regex");
    }
  }

  @Test
  void theExportHoldsWhatTheFilterRestricts() {
    Config config =
        withJobs(
            SETTINGS,
            "j",
            "{'owner': 'o', 'filters': {'level1': {'whitelist': ['b', 'a']}, 'level2': {},"
                + "'worker': {'fraction_of_nodes': 0.25}}}");
    assertThat(BistroJobWriter.toJson(job(config, "j"), config.settings()).get("filters"))
        .isEqualTo(
            ConfigFixtures.json(
                "{'level1': {'whitelist': ['a', 'b']}, 'worker': {'fraction_of_nodes': 0.25}}"));
    assertThat(JobFilterKeys.FILTER.write(JobFilter.ALL)).isEqualTo(Json.Obj.EMPTY);
  }
}
