package io.espalier.core.problem;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.json.Json;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ProblemsTest {
  private static final ProblemPath JOB = ProblemPath.ROOT.key("bistro_job->foo");

  private static Problem of(ProblemPath path, Json value) {
    Problems problems = new Problems();
    problems.error(path, value, "is wrong", null);
    problems.warning(path, value, "is odd", null);
    assertThat(problems.sorted().get(1).value()).isEqualTo(problems.sorted().get(0).value());
    return problems.sorted().get(0);
  }

  @ParameterizedTest
  @ValueSource(strings = {"environment", "headers", "api_key", "password", "X-Auth-Token"})
  void aValueThatMayBeASecretIsNotRepeated(String key) {
    Json text = Json.of("S3CR3T11");
    ProblemPath path = JOB.key("task_subprocess").key(key);
    assertThat(of(path, text).value()).isNull();
    assertThat(of(path.key("X").index(0), text).value()).isNull();
    assertThat(of(path, text).path()).isEqualTo(path.toString());
    Json.Obj with = Json.object().put(key, Json.object().put("X", text).build()).build();
    assertThat(of(JOB.key("misspelt"), with).value()).isNull();
    assertThat(of(JOB.key("steps"), new Json.Arr(List.of(with))).value()).isNull();
    assertThat(of(JOB.key("a.b").key(key).key("X Y"), text).value()).isNull();
  }

  @Test
  void passwordsInTextsAreMasked() {
    assertThat(of(JOB.key("url"), Json.of("http://me:S3CR3T@h/x?access_token=S3CR3T&y=1")).value())
        .isEqualTo("\"http://me:***@h/x?access_token=***&y=1\"");
    assertThat(of(JOB.key("command"), Json.strings(List.of("password=S3CR3T"))).value())
        .isEqualTo("[\"password=***\"]");
  }

  @Test
  void otherValuesAreShownAndShortened() {
    assertThat(of(JOB.key("owner"), Json.of(7)).value()).isEqualTo("7");
    assertThat(of(JOB.key("owner"), Json.of("x".repeat(200))).value()).hasSize(101).endsWith("…");
    assertThat(of(ProblemPath.ROOT.key("bistro_job->token_cleanup").key("owner"), Json.of(7)))
        .as("the name of a job")
        .extracting(Problem::value)
        .isEqualTo("7");
  }
}
