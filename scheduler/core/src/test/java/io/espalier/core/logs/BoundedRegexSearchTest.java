package io.espalier.core.logs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class BoundedRegexSearchTest {
  @Test
  void everyLineHasTheEmptyExpression() {
    assertThat(new BoundedRegexSearch("").isIn("")).isTrue();
    assertThat(new BoundedRegexSearch("b+$").isIn("abb\n")).isTrue();
    assertThat(new BoundedRegexSearch("^b").isIn("abb\n")).isFalse();
  }

  @Test
  void catastrophicExpressionsEndAfterCountedSteps() {
    BoundedRegexSearch search = new BoundedRegexSearch("(a|aa)+(b)\\2c");
    assertThatThrownBy(() -> search.isIn("a".repeat(100) + "b"))
        .isInstanceOf(LogQueryException.class)
        .hasMessageContaining("too many steps on a line of 101 characters");
    assertThat(search.steps()).isEqualTo(BoundedRegexSearch.STEPS_PER_LINE);
    assertThatThrownBy(() -> new BoundedRegexSearch("(a|b)*c").isIn("ab".repeat(40_000)))
        .isInstanceOf(LogQueryException.class);
  }

  @Test
  void whatIsNoExpressionIsSaid() {
    assertThat(LogQuery.complaintAbout("(")).contains("nclosed group");
    assertThat(LogQuery.complaintAbout("x".repeat(20_000))).contains("longer than 10000");
    assertThat(LogQuery.complaintAbout("(".repeat(9000))).isNotEmpty();
    assertThat(LogQuery.complaintAbout("ab*")).isEmpty();
    assertThatThrownBy(() -> new BoundedRegexSearch("[")).isInstanceOf(LogQueryException.class);
  }
}
