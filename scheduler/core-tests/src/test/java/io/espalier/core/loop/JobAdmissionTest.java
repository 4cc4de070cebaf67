package io.espalier.core.loop;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.api.view.Explanation.Kind;
import io.espalier.core.loop.watch.JobAdmission;
import io.espalier.core.status.TaskKey;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

/** {@code capacity}: how many jobs may start tasks, and how many may wait. */
class JobAdmissionTest {
  private final LoopWorld world = new LoopWorld();

  private static String config(String capacity, String... jobs) {
    return """
        {"bistro_settings": {%s "nodes": {"levels": ["db"], "node_order": "original",
           "node_sources": [{"source": "manual", "prefs": {"n1": [], "n2": []}}]},
           "resources": {}}, %s}
        """
        .formatted(capacity, String.join(", ", jobs));
  }

  private static String job(String name, String more) {
    return "\"bistro_job->" + name + "\": {\"owner\": \"o\"" + more + "}";
  }

  private List<String> running() {
    return world.running.keySet().stream().map(TaskKey::job).distinct().sorted().toList();
  }

  private void ends(String job) {
    world.writes(job, "n1", "done");
    world.writes(job, "n2", "done");
  }

  private String problem() {
    world.advance(1_000);
    return String.valueOf(world.view == null ? null : world.view.errors().get("capacity"));
  }

  @Test
  void jobsWithoutAPlaceWaitInTheOrderOfCreationAndName() {
    world.configure(
        config(
            "\"capacity\": {\"running_jobs\": 1},",
            job("a", ", \"create_time\": 9"),
            job("b", ", \"create_time\": 5"),
            job("c", ", \"create_time\": 5")));
    assertThat(running()).containsExactly("b");
    assertThat(world.core.tasks().explain("a", "n1").reasons())
        .anySatisfy(
            reason -> {
              assertThat(reason.kind()).isEqualTo(Kind.CAPACITY);
              assertThat(reason.message())
                  .isEqualTo(
                      "the job waits for a place: \"running_jobs\" of \"capacity\" is 1, and"
                          + " others came before");
            });
    ends("b");
    assertThat(running()).containsExactly("c");
    ends("c");
    assertThat(running()).containsExactly("a");
    ends("a");
    assertThat(world.loop.isQuiet()).isTrue();
    assertThat(problem()).isEqualTo("null");
  }

  @Test
  void ofThousandsOfJobsOneAfterTheOtherGetsThePlace() {
    String[] jobs = new String[5_000];
    Arrays.setAll(jobs, i -> job("j%04d".formatted(i), ""));
    world.configure(config("\"capacity\": {\"running_jobs\": 1},", jobs));
    world.advance(1_000);
    for (int i = 0; i < 20; i++) {
      String next = "j%04d".formatted(i);
      assertThat(running()).containsExactly(next);
      ends(next);
    }
  }

  @Test
  void aJobThatDependsOnALaterOneComesInTheNextTurn() {
    world.configure(
        config(
            "\"capacity\": {\"running_jobs\": 2},",
            job("a", ", \"depends_on\": [\"b\"]"),
            job("b", ""),
            job("c", ", \"depends_on\": [\"b\"]")));
    ends("b");
    assertThat(running()).containsExactly("a", "c");
    world.configure(
        config(
            "\"capacity\": {\"running_jobs\": 2},",
            job("x", ", \"depends_on\": [\"y\"]"),
            job("y", ""),
            job("z", "")));
    assertThat(running()).contains("y", "z");
  }

  @Test
  void thousandsOfJobsThatDependOnEachOtherGetTheirPlaces() {
    String[] jobs = new String[2_000];
    Arrays.setAll(
        jobs, i -> job("j" + (i + 1_000), ", \"depends_on\": [\"j" + (i + 1_001) + "\"]"));
    world.configure(
        config(
            "\"capacity\": {\"running_jobs\": 3000},", String.join(", ", jobs), job("j3000", "")));
    world.advance(1_000);
    for (int i = 3_000; i > 2_980; i--) {
      assertThat(running()).containsExactly("j" + i);
      ends("j" + i);
    }
  }

  @Test
  void aJobKeepsItsPlaceWhenAnOlderOneComesAndWhenItWaitsForABackoff() {
    world.configure(config("\"capacity\": {\"running_jobs\": 1},", job("m", "")));
    world.writes("m", "n1", "error_backoff");
    world.configure(config("\"capacity\": {\"running_jobs\": 1},", job("a", ""), job("m", "")));
    world.writes("m", "n2", "done");
    assertThat(running()).isEmpty();
    assertThat(world.loop.isQuiet()).as("a back-off is to come").isFalse();
  }

  @Test
  void aJobComesAfterThoseThatItDependsOn() {
    world.configure(
        config(
            "\"capacity\": {\"running_jobs\": 1},",
            job("a", ", \"depends_on\": [\"z\"]"),
            job("z", "")));
    assertThat(running()).containsExactly("z");
    ends("z");
    assertThat(running()).containsExactly("a");
  }

  @Test
  void withoutAndAfterCapacityAllRun() {
    world.configure(config("\"capacity\": {\"running_jobs\": 1},", job("a", ""), job("b", "")));
    assertThat(running()).containsExactly("a");
    world.configure(config("", job("a", ""), job("b", "")));
    assertThat(running()).containsExactly("a", "b");
  }

  @Test
  void aDisabledJobGivesItsPlaceBack() {
    world.configure(config("\"capacity\": {\"running_jobs\": 1},", job("a", ""), job("b", "")));
    world.configure(
        config(
            "\"capacity\": {\"running_jobs\": 1},",
            job("a", ", \"enabled\": false"),
            job("b", "")));
    assertThat(running()).as("what runs goes on").containsExactly("a", "b");
  }

  @Test
  void aProblemNamesTheJobsOfAFileBeyondTheCapacityAndNewOnesAreRefused() {
    String settings =
        "\"capacity\": {\"running_jobs\": 1, \"waiting_jobs\": 1, \"waiting_tasks\": 4},";
    world.configure(config(settings, job("a", ""), job("b", ""), job("c", ""), job("d", "")));
    assertThat(problem())
        .isEqualTo(
            "more than \"capacity\" allows; the jobs wait, none is dropped: 3 jobs wait,"
                + " \"waiting_jobs\" is 1: c, d; 6 tasks wait, \"waiting_tasks\" is 4: d");
    assertThat(refusal())
        .isEqualTo("3 jobs wait already, and \"waiting_jobs\" of \"capacity\" is 1");
    ends("a");
    ends("b");
    assertThat(problem()).isEqualTo("null");
    assertThat(running()).containsExactly("c");
    assertThat(refusal()).as("d waits").contains("1 job waits already");
    ends("c");
    problem();
    assertThat(refusal()).isEqualTo("null");
  }

  @Test
  void waitingTasksRefuseNewJobsToo() {
    world.configure(
        config(
            "\"capacity\": {\"running_jobs\": 1, \"waiting_tasks\": 2},",
            job("a", ""),
            job("b", "")));
    problem();
    assertThat(refusal())
        .isEqualTo("2 tasks wait already, and \"waiting_tasks\" of \"capacity\" is 2");
  }

  private String refusal() {
    return world.view == null
        ? "no view"
        : String.valueOf(JobAdmission.refusal(world.core.config(), world.view));
  }
}
