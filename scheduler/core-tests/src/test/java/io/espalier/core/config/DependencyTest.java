package io.espalier.core.config;

import static io.espalier.testkit.config.ConfigFixtures.job;
import static io.espalier.testkit.config.ConfigFixtures.withJobs;
import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.problem.Problem;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class DependencyTest {
  private static final String SETTINGS =
      "{'nodes': {'levels': ['host'], 'node_sources': [{'source': 'empty'}]}, 'resources': {}}";

  private static String waitingFor(String... jobs) {
    return "{'owner': 'o', 'depends_on': ['" + String.join("', '", jobs) + "']}";
  }

  private static final String FREE = "{'owner': 'o'}";

  @Test
  void anUnknownNameIsAWarningWithASuggestionAndTheJobStaysValid() {
    Config config = withJobs(SETTINGS, "verify", FREE, "compress", waitingFor("verfy"));
    Job job = job(config, "compress");
    assertThat(job.canRun()).isTrue();
    assertThat(job.problems())
        .extracting(Problem::path, Problem::hint)
        .containsExactly(
            org.assertj.core.api.Assertions.tuple(
                "bistro_job->compress.depends_on[0]", "did you mean \"verify\"?"));
  }

  @Test
  void aNameThatNoJobCanHaveIsAnErrorAlsoWhereItsJobIsRefused() {
    Config config =
        withJobs(
            SETTINGS,
            "j1",
            FREE,
            "-1",
            FREE,
            "a",
            waitingFor("-1", "", "-2"),
            "b",
            "{'owner': 'o', 'run_only_after_all_nodes_are_done_for': [{'job': -1}, ' j1']}");
    assertThat(job(config, "a").problems())
        .extracting(p -> p.severity() + " " + p.path() + ": " + p.hint())
        .containsExactly(
            "ERROR bistro_job->a.depends_on[0]: did you mean \"j1\"?",
            "ERROR bistro_job->a.depends_on[1]: known: a, b, j1",
            "ERROR bistro_job->a.depends_on[2]: known: a, b, j1");
    assertThat(job(config, "b").problems())
        .extracting(p -> p.severity() + " " + p.path() + ": " + p.hint())
        .containsExactly(
            "ERROR bistro_job->b.run_only_after_all_nodes_are_done_for[0].job: did you mean"
                + " \"j1\"?",
            "ERROR bistro_job->b.run_only_after_all_nodes_are_done_for[1]: did you mean"
                + " \"j1\"?");
    String[] many = IntStream.rangeClosed(0, 30).mapToObj(i -> "x" + i).toArray(String[]::new);
    many[30] = "-";
    assertThat(job(withJobs(SETTINGS, "a", waitingFor(many)), "a").isValid()).isFalse();
  }

  @Test
  void ofManyUnknownNamesTheFirstAreNamedAndTheRestCounted() {
    String[] names = IntStream.range(0, 5_000).mapToObj(i -> "verfy" + i).toArray(String[]::new);
    Job job = job(withJobs(SETTINGS, "verify", FREE, "compress", waitingFor(names)), "compress");
    assertThat(job.canRun()).isTrue();
    assertThat(job.problems()).hasSize(21);
    assertThat(job.problems().get(20).message())
        .isEqualTo("there are no jobs of 4980 more names: tasks wait until there are");
  }

  @Test
  void inManyJobsASimilarNameIsSuggestedForTheFirstUnknownNamesOnly() {
    List<String> namesAndJobs = new ArrayList<>(List.of("verify", FREE));
    for (int i = 0; i < 5_000; i++) {
      namesAndJobs.addAll(List.of("same" + i, waitingFor("verfy")));
      namesAndJobs.addAll(List.of("some" + i, waitingFor("sume" + i)));
    }
    List<Problem> problems =
        withJobs(SETTINGS, namesAndJobs.toArray(String[]::new)).jobs().values().stream()
            .flatMap(job -> job.problems().stream())
            .toList();
    assertThat(problems).hasSize(10_000);
    assertThat(problems).filteredOn(problem -> problem.hint() != null).hasSize(5_099);
  }

  @Test
  void aJobThatWaitsForItselfIsAnError() {
    Job job = job(withJobs(SETTINGS, "a", waitingFor("a")), "a");
    assertThat(job.isValid()).isFalse();
    assertThat(job.problems().get(0).message()).contains("a -> a");
  }

  @Test
  void everyJobOfACycleHasAnErrorAndOnlyThose() {
    Config config =
        withJobs(
            SETTINGS,
            "a",
            waitingFor("free", "b"),
            "b",
            waitingFor("c"),
            "c",
            waitingFor("a"),
            "before",
            waitingFor("a"),
            "free",
            FREE);
    assertThat(config.jobs().values().stream().filter(j -> !j.isValid()).map(Job::name))
        .containsExactly("a", "b", "c");
    assertThat(job(config, "a").problems())
        .extracting(p -> p.path() + ": " + p.message())
        .containsExactly("bistro_job->a.depends_on[1]: jobs wait for each other: a -> b -> c -> a");
  }

  @Test
  void ofALongCycleOnlyTheEndsAreNamed() {
    String[] jobs = new String[6_000];
    for (int i = 0; i < 3_000; i++) {
      jobs[2 * i] = "j" + i;
      jobs[2 * i + 1] = waitingFor("j" + (i + 1) % 3_000);
    }
    Config config = withJobs(SETTINGS, jobs);
    assertThat(config.jobs().values()).noneMatch(Job::isValid);
    assertThat(job(config, "j1").problems().get(0).message())
        .isEqualTo(
            "jobs wait for each other: j1 -> j2 -> j3 -> j4 -> j5 -> 2990 more -> "
                + "j2996 -> j2997 -> j2998 -> j2999 -> j0 -> j1");
  }

  @Test
  void aJobBetweenTwoCyclesHasNoError() {
    Config config =
        withJobs(
            SETTINGS,
            "a1",
            waitingFor("a2"),
            "a2",
            waitingFor("a1", "mid"),
            "mid",
            waitingFor("b1"),
            "b1",
            waitingFor("b2"),
            "b2",
            waitingFor("b1"));
    assertThat(config.jobs().values().stream().filter(Job::isValid).map(Job::name))
        .containsExactly("mid");
  }

  @Test
  void waitingForAJobOfAnotherLevelIsAWarning() {
    Config config =
        withJobs(
            SETTINGS,
            "top",
            "{'owner': 'o', 'level_for_tasks': 'instance'}",
            "low",
            waitingFor("top"));
    assertThat(job(config, "low").isValid()).isTrue();
    assertThat(job(config, "low").problems()).hasSize(1);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10})
  void exactlyTheJobsThatReachThemselvesAreErrors(int seed) {
    Random random = new Random(seed);
    int count = 2 + random.nextInt(12);
    List<List<Integer>> edges = new ArrayList<>();
    List<String> namesAndJobs = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      Set<Integer> to = new TreeSet<>();
      for (int e = random.nextInt(3); e > 0; e--) {
        to.add(random.nextInt(count));
      }
      edges.add(List.copyOf(to));
      namesAndJobs.add("j" + i);
      namesAndJobs.add(
          to.isEmpty() ? FREE : waitingFor(to.stream().map(t -> "j" + t).toArray(String[]::new)));
    }
    Config config = withJobs(SETTINGS, namesAndJobs.toArray(String[]::new));
    for (int i = 0; i < count; i++) {
      assertThat(job(config, "j" + i).isValid())
          .as("j%d of %s", i, edges)
          .isEqualTo(!reaches(edges, i));
    }
  }

  private static boolean reaches(List<List<Integer>> edges, int start) {
    Set<Integer> seen = new HashSet<>();
    List<Integer> open = new ArrayList<>(edges.get(start));
    while (!open.isEmpty()) {
      int at = open.remove(open.size() - 1);
      if (at == start) {
        return true;
      }
      if (seen.add(at)) {
        open.addAll(edges.get(at));
      }
    }
    return false;
  }

  @Test
  void aLongChainIsNoTrouble() {
    List<String> namesAndJobs = new ArrayList<>(List.of("j0", FREE));
    for (int i = 1; i < 20_000; i++) {
      namesAndJobs.add("j" + i);
      namesAndJobs.add(waitingFor("j" + (i - 1)));
    }
    Config config = withJobs(SETTINGS, namesAndJobs.toArray(String[]::new));
    assertThat(config.jobs().values()).allMatch(Job::canRun);
  }

  @Test
  void aJobThatWaitsForManyIsNoTrouble() {
    List<String> namesAndJobs = new ArrayList<>();
    for (int i = 0; i < 10_000; i++) {
      namesAndJobs.addAll(List.of("j" + i, FREE));
    }
    String[] all = IntStream.range(0, 10_000).mapToObj(i -> "j" + i).toArray(String[]::new);
    namesAndJobs.addAll(List.of("report", waitingFor(all)));
    Config config = withJobs(SETTINGS, namesAndJobs.toArray(String[]::new));
    assertThat(config.jobs().values()).allMatch(Job::canRun);
  }
}
