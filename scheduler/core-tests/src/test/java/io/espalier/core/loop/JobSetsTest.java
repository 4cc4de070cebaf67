package io.espalier.core.loop;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.api.Command;
import io.espalier.core.outcome.JobState;
import io.espalier.core.outcome.JobStateRecord;
import io.espalier.core.status.TaskKey;
import java.util.Objects;
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

  @Test
  void aResumedJobGoesOnUntilAnotherOneFails() {
    world.configure(SETS);
    fail("one");
    world.writes("two", "a", "incomplete");
    world.run(new Command.Resume("two", "ann", ""));
    world.settle();
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
