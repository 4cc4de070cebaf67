package io.espalier.core.loop;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.api.Command;
import io.espalier.core.json.Json;
import io.espalier.core.outcome.JobState;
import io.espalier.core.outcome.JobStateRecord;
import io.espalier.core.status.TaskKey;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The rule of a set of jobs. */
class JobSetsTest {
  private static final String SETS =
      """
      {"bistro_settings": {"nodes": {"levels": ["db"], "node_order": "original",
         "node_sources": [{"source": "manual", "prefs": {"x": ["a", "b"]}}]},
         "resources": {"instance": {"all": {"default": 1, "limit": 9}}},
         "sets": {"up": {"fail_when_failed_jobs": 1}, "twice": {"fail_when_failed_jobs": 2}}},
       "bistro_job->one": {"owner": "o", "set": "up", "backoff": ["fail"], "command": ["x"]},
       "bistro_job->two": {"owner": "o", "set": "up", "command": ["x"]},
       "bistro_job->three": {"owner": "o", "set": "twice", "backoff": ["fail"], "command": ["x"]},
       "bistro_job->four": {"owner": "o", "set": "twice", "command": ["x"]},
       "bistro_job->alone": {"owner": "o", "command": ["x"]}}
      """
          .replace("\"levels\": [\"db\"]", "\"levels\": [\"host\", \"db\"]");

  private final LoopWorld world = new LoopWorld();

  private JobStateRecord state(String job) {
    return Objects.requireNonNull(world.jobStates.get(job));
  }

  private void fail(String job) {
    world.writes(job, "a", "failed");
    world.writes(job, "b", "failed");
  }

  @Test
  void aFailedJobFailsTheOthersOfItsSetForGood() {
    world.configure(SETS);
    fail("one");
    assertThat(state("one").state()).isEqualTo(JobState.FAILED);
    assertThat(state("two").state()).isEqualTo(JobState.FAILED);
    assertThat(state("two").reason()).isEqualTo("its set up has failed: job one has failed");
    assertThat(state("alone").state()).isEqualTo(JobState.RUNNING);
    // What runs may end; nothing more starts, also after a restart.
    world.writes("two", "a", "incomplete");
    world.advance(60_000);
    assertThat(world.running).doesNotContainKey(new TaskKey("two", "a"));
    world.crashAndRestart();
    world.configure(SETS);
    assertThat(state("two").state()).isEqualTo(JobState.FAILED);
    assertThat(world.running.keySet()).noneMatch(task -> task.job().equals("two"));
    world.core.verify();
  }

  private List<String> setStates() {
    return world.events.stream()
        .filter(event -> event.kind().equals("set_state"))
        .map(
            event ->
                Stream.of("set", "from", "to", "reason")
                    .map(member -> event.data().get(member))
                    .map(value -> value instanceof Json.Str text ? text.value() : "-")
                    .collect(Collectors.joining(" ")))
        .toList();
  }

  @Test
  void theStateOfASetFollowsThoseOfItsJobsAndIsToldOnce() {
    world.configure(SETS);
    fail("three");
    assertThat(setStates()).as("job four still runs").isEmpty();
    world.writes("four", "a", "done");
    world.writes("four", "b", "done");
    assertThat(setStates()).containsExactly("twice running failed failed: three");
    world.crashAndRestart();
    world.configure(SETS);
    world.advance(5_000);
    assertThat(setStates()).as("nothing is told twice").hasSize(1);
    world.configure(
        SETS.replace("\"bistro_job->alone\": {", "\"bistro_job->alone\": {\"set\": \"twice\", "));
    assertThat(setStates()).hasSize(2).last().isEqualTo("twice failed running -");
    fail("one");
    assertThat(setStates()).hasSize(3).last().isEqualTo("up running failed failed: one, two");
  }

  @Test
  void aSetHasSucceededWhenAllItsJobsHave() {
    world.configure(SETS);
    for (String job : List.of("three", "four")) {
      assertThat(setStates()).isEmpty();
      world.writes(job, "a", "done");
      world.writes(job, "b", "done");
    }
    assertThat(setStates()).containsExactly("twice running succeeded -");
    world.configure(
        SETS.replace(
            "\"set\": \"twice\", \"command\"",
            "\"set\": \"twice\", \"enabled\": false, \"command\""));
    assertThat(setStates()).as("what is disabled does not count").hasSize(1);
  }

  @Test
  void aResumedJobGoesOnUntilAnotherOneFails() {
    world.configure(SETS);
    fail("one");
    world.writes("two", "a", "incomplete");
    world.done(new Command.Resume("two", "ann", ""));
    world.advance(1_000);
    assertThat(state("two").state()).isEqualTo(JobState.RUNNING);
    assertThat(world.running).containsKey(new TaskKey("two", "a"));
    world.writes("two", "a", "done");
    world.writes("two", "b", "done");
    assertThat(state("two").state()).isEqualTo(JobState.SUCCEEDED);
  }

  @Test
  void theRuleCountsJobsAndWithoutOneNothingHappens() {
    world.configure(SETS);
    fail("three");
    assertThat(state("three").state()).isEqualTo(JobState.FAILED);
    assertThat(state("four").state()).isEqualTo(JobState.RUNNING);
    world.configure(
        SETS.replace("\"sets\": {\"up\": {\"fail_when_failed_jobs\": 1}, ", "\"sets\": {"));
    fail("one");
    assertThat(state("two").state()).isEqualTo(JobState.RUNNING);
  }
}
