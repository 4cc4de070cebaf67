package io.espalier.core.config;

import static io.espalier.testkit.config.ConfigFixtures.job;
import static io.espalier.testkit.config.ConfigFixtures.withJobs;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.espalier.core.config.write.BistroJobWriter;
import io.espalier.core.json.Json;
import io.espalier.core.problem.Problem;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** {@code per_batch} of {@code batch}. */
final class BatchConfigTest {
  private static Config config(String batch, String members) {
    return withJobs(
        "{'nodes': {'levels': ['host', 'db'], 'node_sources': [{'source': 'empty'}]},"
            + " 'resources': {'instance': {'links': {'limit': 5, 'default': 1}},"
            + " 'host': {'connections': {'limit': 2, 'default': 1}, 'spare': {'limit': 2, 'default': 0}},"
            + " 'worker': {'cores': {'limit': 8, 'default': 1}}}}",
        "foo",
        "{'owner': 'o', 'batch': {'max': 20" + batch + "}" + members + "}");
  }

  private static List<Problem> problems(String batch) {
    return job(config(batch, ""), "foo").problems();
  }

  @Test
  void aBatchTakesItsResourcesOnceAndTheExportSaysSo() {
    Config config = config(", 'under': 'host', 'per_batch': ['connections', 'links', 'links']", "");
    Job job = job(config, "foo");
    assertThat(job.problems()).isEmpty();
    assertThat(job.scheduling().batch().orElseThrow().perBatch())
        .containsExactly("connections", "links");
    Json.Obj export = BistroJobWriter.toJson(job, config.settings());
    assertThat(((Json.Obj) Objects.requireNonNull(export.get("batch"))).get("per_batch"))
        .isEqualTo(Json.strings(List.of("connections", "links")));
  }

  @Test
  void withoutTheKeyEachTaskTakesEverythingAndNothingIsExported() {
    Config config = config("", "");
    Job job = job(config, "foo");
    assertThat(job.scheduling().batch().orElseThrow().perBatch()).isEmpty();
    Json.Obj export = BistroJobWriter.toJson(job, config.settings());
    assertThat(((Json.Obj) Objects.requireNonNull(export.get("batch"))).get("per_batch")).isNull();
  }

  @Test
  void allThatIsWrongIsToldAtOnceWithAHint() {
    assertThat(problems(", 'under': 'host', 'per_batch': ['cores', 'conections', 'spare']"))
        .extracting(Problem::path, Problem::message)
        .containsExactlyInAnyOrder(
            tuple(
                "bistro_job->foo.batch.per_batch[0]",
                "the tasks of a batch use this resource on different nodes or workers: it is of the"
                    + " level \"worker\", below \"host\""),
            tuple("bistro_job->foo.batch.per_batch[1]", "unknown resource \"conections\""),
            tuple(
                "bistro_job->foo.batch.per_batch[2]",
                "the tasks of this job need none of this resource"));
    assertThat(problems(", 'per_batch': ['connections']")).hasSize(1);
  }

  @Test
  void aBatchOfCallsIsRefused() {
    String call = ", 'call': {'http': {'url': 'http://127.0.0.1/compact/{node}'}}";
    assertThat(job(config("", call), "foo").problems())
        .filteredOn(Problem::isError)
        .singleElement()
        .satisfies(
            problem -> {
              assertThat(problem.path()).isEqualTo("bistro_job->foo.batch");
              assertThat(problem.message())
                  .isEqualTo("the tasks of this job are calls, and a batch is a process");
              assertThat(problem.hint()).isEqualTo("remove one of them");
            });
  }

  @Test
  void aRateThatCutsBatchesIsSaid() {
    assertThat(job(config("", ", 'start_rate': {'per_second': 5, 'burst': 8}"), "foo").problems())
        .singleElement()
        .satisfies(
            problem -> {
              assertThat(problem.isError()).isFalse();
              assertThat(problem.path()).isEqualTo("bistro_job->foo.batch.max");
              assertThat(problem.message())
                  .isEqualTo(
                      "the start rate of this job lets at most 8 tasks start at once, so no batch"
                          + " has more");
            });
    assertThat(job(config("", ", 'start_rate': {'per_second': 5, 'burst': 20}"), "foo").problems())
        .isEmpty();
  }

  @Test
  void whoAsksForTermIsToldWhatOneTaskOfABatchGets() {
    String kill = ", 'kill_subprocess': {'method': '%s'}";
    assertThat(job(config("", kill.formatted("term")), "foo").problems())
        .singleElement()
        .satisfies(
            problem -> {
              assertThat(problem.isError()).isFalse();
              assertThat(problem.path()).isEqualTo("bistro_job->foo.kill_subprocess.method");
              assertThat(problem.message()).contains("cannot be stopped for one task");
              assertThat(problem.hint()).contains("term_wait_kill");
            });
    assertThat(job(config("", kill.formatted("term_wait_kill")), "foo").problems()).isEmpty();
    assertThat(job(config("", ", 'kill_subprocess': {'kill_wait_ms': 5}"), "foo").problems())
        .isEmpty();
  }

  @Test
  void whatTheJobSaysItNeedsCounts() {
    assertThat(
            job(
                    config(
                        ", 'under': 'host', 'per_batch': ['spare']", ", 'resources': {'spare': 2}"),
                    "foo")
                .problems())
        .isEmpty();
  }
}
