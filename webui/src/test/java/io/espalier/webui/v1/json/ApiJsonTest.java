package io.espalier.webui.v1.json;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.api.view.Explanation;
import io.espalier.core.json.Position;
import io.espalier.core.problem.Problem;
import io.espalier.testkit.config.ConfigFixtures;
import org.junit.jupiter.api.Test;

class ApiJsonTest {
  private static Problem at(Position at) {
    return new Problem(Problem.Severity.WARNING, "a.b", at, "is odd", null, null);
  }

  @Test
  void aProblemSaysInWhichFileItIs() {
    assertThat(ApiJson.problem(at(new Position("jobs/a.json", 3, 5))))
        .isEqualTo(
            ConfigFixtures.json(
                """
                {"severity": "warning", "path": "a.b", "message": "is odd",
                 "file": "jobs/a.json", "line": 3, "column": 5}
                """));
    assertThat(ApiJson.problem(at(new Position(3, 5))).get("file")).isNull();
    assertThat(ApiJson.problem(at(Position.NONE)).members())
        .containsOnlyKeys("severity", "path", "message");
  }

  @Test
  void nothingIsFreeWhereMoreRunsThanALoweredLimitLets() {
    Explanation.Reason reason =
        Explanation.Reason.of(Explanation.Kind.MAX_CONCURRENT, null, "too many run")
            .lacking(null, 1, -1, 2);
    assertThat(ApiJson.reason(reason))
        .isEqualTo(
            ConfigFixtures.json(
                """
                {"kind": "max_concurrent", "need": 1, "free": 0, "limit": 2,
                 "message": "too many run"}
                """));
  }
}
