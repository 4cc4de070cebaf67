package io.espalier.core.config;

import static io.espalier.testkit.config.ConfigFixtures.job;
import static io.espalier.testkit.config.ConfigFixtures.jobFoo;
import static io.espalier.testkit.config.ConfigFixtures.withJobs;
import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.config.task.Program;
import io.espalier.core.config.task.Step;
import io.espalier.core.config.task.Verification;
import io.espalier.core.config.write.BistroJobWriter;
import io.espalier.core.problem.Problem;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** {@code steps} and {@code compensate} of a job. */
class StepsConfigTest {
  private static final String STEPS =
      "'steps': [{'name': 'dump', 'command': ['/d'], 'timeout_sec': 5},"
          + " {'name': 'ship', 'call': {'http': {'url': 'http://x'}}, 'on_failure': 'undo',"
          + " 'no_output_timeout_sec': 2}]";
  private static final String FULL =
      STEPS
          + ", 'hold': false, 'restart_from': 'first', 'compensate': ["
          + "{'step': 'ship', 'command': ['/u']}, {'step': 'dump', 'command': ['/r']}],"
          + " 'verify': {'command': ['/v'], 'on': '2.5%', 'retries': 0, 'timeout_sec': 9}";

  private static Config config(String members) {
    return jobFoo("", ", " + members);
  }

  private static List<Problem> problems(String members) {
    return job(config(members), "foo").problems();
  }

  @Test
  void aProgramIsRead() {
    Job job = job(config(FULL), "foo");
    assertThat(job.problems()).isEmpty();
    Program program = job.program();
    assertThat(program.steps()).extracting(Step::name).containsExactly("dump", "ship");
    assertThat(program.steps().get(0).timeout()).contains(Duration.ofSeconds(5));
    assertThat(program.steps().get(1).undoesOnFailure()).isTrue();
    assertThat(program.steps().get(1).call()).isPresent();
    assertThat(program.holds()).isFalse();
    assertThat(program.restartsFromFirst()).isTrue();
    assertThat(program.compensations())
        .as("in the order of the steps")
        .extracting(Step::name)
        .containsExactly("dump", "ship");
    Verification verification = program.verification().orElseThrow();
    assertThat(verification.size(1_000)).isEqualTo(25);
    assertThat(verification.size(10)).isEqualTo(1);
    assertThat(verification.retries()).isZero();
    assertThat(verification.step().timeout()).contains(Duration.ofSeconds(9));
    assertThat(job(config("'command': ['x']"), "foo").program()).isEqualTo(Program.NONE);
  }

  @Test
  void whatIsExportedIsReadAsTheSame() {
    for (String members :
        new String[] {
          FULL, STEPS, "'command': ['x'], 'verify': {'call': {'executor': 'e'}, 'on': 12}"
        }) {
      Config config = config(members);
      String exported = BistroJobWriter.toJson(job(config, "foo"), config.settings()).toString();
      Config again =
          withJobs(
              "{'nodes': {'levels': ['host', 'db'], 'node_sources': [{'source': 'empty'}]},"
                  + " 'resources': {}}",
              "foo",
              exported.replace('"', '\''));
      assertThat(job(again, "foo").problems()).isEmpty();
      assertThat(job(again, "foo").program()).isEqualTo(job(config, "foo").program());
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "'steps': [] | steps | there is no step",
        "'command': ['x'], 'steps': [{'name': 'a', 'command': ['x']}] | steps | command or call",
        "'call': {'executor': 'e'}, 'steps': [{'name': 'a', 'command': ['x']}] | steps | already",
        "'steps': [{'name': 'a b', 'command': ['x']}] | steps[0].name | letters, digits",
        "'steps': [{'command': ['x']}] | steps[0].name | is missing",
        "'steps': [{'name': 'verify', 'command': ['x']}] | steps[0].name | verifies a task",
        "'steps': [{'name': 'a'}] | steps[0] | \"command\" or \"call\"",
        "'steps': [{'name': 'a', 'command': []}] | steps[0] | \"command\" or \"call\"",
        "'steps': [{'name': 'a', 'command': ['x']}], 'compensate': [{'step': 'a'}] |"
            + " compensate[0] | \"command\" or \"call\"",
        "'verify': {} | verify | \"command\" or \"call\"",
        "'verify': {'command': ['x'], 'on': '101%'} | verify.on | to \"100%\"",
        "'verify': {'command': ['x'], 'on': '0%'} | verify.on | above \"0%\"",
        "'verify': {'command': ['x'], 'on': -3} | verify.on | number of tasks",
        "'verify': {'command': ['x'], 'retries': -1} | verify.retries | from 0",
        "'steps': [{'name': 'dump', 'command': ['x']}], 'compensate':"
            + " [{'step': 'dmp', 'command': ['x']}] | compensate[0].step | no step \"dmp\"",
        "'steps': [{'name': 'a', 'command': ['x']}], 'compensate': [{'step': 'a', 'command':"
            + " ['x']}, {'step': 'compensate:a', 'command': ['x']}] | compensate[1].step | no step",
        "'steps': [{'name': 'a', 'command': ['x']}], 'compensate': [{'step': 'a', 'command': ['x'],"
            + " 'compensate': [{'step': 'a', 'command': ['x']}]}] | compensate[0].compensate |"
            + " unknown",
        "'command': ['x'], 'compensate': [{'step': 'a', 'command': ['x']}] |"
            + " compensate[0].step | no step \"a\"",
      })
  void whatIsWrongIsSaid(String members, String path, String message) {
    assertThat(problems(members))
        .anySatisfy(
            problem -> {
              assertThat(problem.path()).isEqualTo("bistro_job->foo." + path);
              assertThat(problem.message()).contains(message);
            });
  }

  @Test
  void allIsSaidAtOnce() {
    assertThat(
            problems(
                "'steps': [{'name': 'a', 'command': ['x']}, {'name': 'a', 'command': ['y']},"
                    + " {'name': '-', 'command': ['y'], 'on_failure': 'stop'}], 'compensate':"
                    + " [{'step': 'a', 'command': ['y']}, {'step': 'a', 'command': ['y']},"
                    + " {'step': 'b', 'command': ['y']}], 'restart_from': 'here'"))
        .extracting(Problem::path)
        .contains(
            "bistro_job->foo.steps[1].name",
            "bistro_job->foo.steps[2].name",
            "bistro_job->foo.steps[2].on_failure",
            "bistro_job->foo.compensate[1].step",
            "bistro_job->foo.compensate[2].step",
            "bistro_job->foo.restart_from");
  }
}
