package io.espalier.core.api;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.api.view.SchedulerView;
import io.espalier.core.problem.Problem;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

final class ProblemAgesTest {
  private static SchedulerView view(
      long atMillis, Map<String, String> errors, Problem... problems) {
    return SchedulerView.EMPTY
        .with()
        .configProblems(List.of(problems))
        .errors(errors)
        .publishedAtMillis(atMillis)
        .build();
  }

  @Test
  void aProblemKeepsItsAgeUntilItIsGone() {
    Problem problem = Problem.error("bistro_settings", "is missing");
    ProblemAges first = ProblemAges.NONE.next(view(10, Map.of("nodes", "a"), problem));
    ProblemAges second = first.next(view(20, Map.of("nodes", "b", "store", "c"), problem));
    assertThat(second.ofError("nodes")).as("another message").isEqualTo(10);
    assertThat(second.ofError("store")).isEqualTo(20);
    assertThat(second.of(problem)).isEqualTo(10);
    assertThat(second.of(Problem.error("bistro_settings", "is odd"))).isZero();
    ProblemAges third = second.next(view(30, Map.of("nodes", "a")));
    assertThat(third.of(problem)).isZero();
    assertThat(third.next(view(40, Map.of("nodes", "a"), problem)).of(problem)).isEqualTo(40);
    assertThat(third.next(view(50, Map.of()))).isSameAs(ProblemAges.NONE);
  }

  @Test
  void withoutNewsNothingIsMadeAnew() {
    ProblemAges ages = ProblemAges.NONE.next(view(10, Map.of("nodes", "a")));
    assertThat(ages.next(view(20, Map.of("nodes", "a")))).isSameAs(ages);
  }
}
