package io.espalier.webui;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.config.Config;
import io.espalier.core.problem.Problem;
import io.espalier.testkit.api.ApiFixture;
import io.espalier.testkit.api.FakeScheduler;
import io.espalier.testkit.config.ConfigFixtures;
import java.net.http.HttpRequest;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Values that may be secrets are not shown with what is wrong about them. */
class SecretsInProblemsTest {
  private static String seen(Served served, HttpRequest.Builder request) {
    return served.send(request.header("X-Espalier-Role", "viewer").build()).body();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "'task_subprocess': {'environment': {'1BAD': 'S3CR3T'}}",
        "'task_subprocess': {'environment': {'X': ['S3CR3T']}}",
        "'task_subprocess': {'environment': 'S3CR3T'}",
        "'task_subprocess': {'environment': ['S3CR3T']}",
        "'environment': {'X': 'S3CR3T'}",
        "'task_subproces': {'environment': {'X': 'S3CR3T'}}",
        "'verify': {'command': ['/bin/true'], 'environment': {'X': 'S3CR3T'}}",
        "'steps': [{'name': 'a', 'command': ['/bin/true'], 'environment': {'X': 'S3CR3T'}}]",
        "'call': {'http': {'url': 'x:?access_token=S3CR3T', 'headers': {'X-Api-Key': 'S3CR3T'}}}",
        "'call': {'htp': {'url': 'http://h', 'headers': {'X-Api-Key': 'S3CR3T'}}}",
        "'call': {'http': {'url': 'http://h', 'headers': {'X-Api-Key': ['S3CR3T']}}}",
        "'call': {'http': {'url': 'http://h', 'headers': 'S3CR3T'}}",
        "'call': {'http': {'url': 'http://h', 'body': [{'password': 'S3CR3T'}]}}",
        "'call': {'http': {'url': 'x:?', 'body': 'S3CR3T'}}",
        "'call': {'http': {'url': 'x:?', 'body': {'password': 'S3CR3T'}}}"
      })
  void aViewerSeesThePlaceButNotTheValue(String members) {
    Config config = ConfigFixtures.jobFoo("", ", " + members);
    List<Problem> problems = ConfigFixtures.job(config, "foo").problems();
    assertThat(problems).isNotEmpty();
    FakeScheduler scheduler =
        new FakeScheduler().load(config, null, ApiFixture.NOW_MILLIS).problems(problems);
    try (Served served = Served.of(scheduler)) {
      assertThat(served.get("/api/v1/problems").body())
          .as("to an admin")
          .contains(problems.get(0).path())
          .doesNotContain("S3CR3T");
      for (String path : List.of("problems", "summary", "jobs", "jobs/foo")) {
        assertThat(seen(served, served.request("/api/v1/" + path)))
            .as(path)
            .contains("foo")
            .doesNotContain("S3CR3T");
      }
    }
  }

  @Test
  void bistroSeesThePlaceButNotTheValue() {
    List<Problem> problems =
        ConfigFixtures.parse(
                "{'bistro_settings': {'task_subprocess': {'environment': {'1BAD': 'S3CR3T'}}}}")
            .problems();
    try (Served served = Served.of(new FakeScheduler().problems(problems))) {
      HttpRequest.Builder request =
          served
              .request("/")
              .POST(HttpRequest.BodyPublishers.ofString("{\"n\":{\"handler\":\"nodes\"}}"));
      assertThat(seen(served, request)).contains("environment.1BAD").doesNotContain("S3CR3T");
    }
  }
}
