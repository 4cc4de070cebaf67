package io.espalier.core.config.label;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class LabelExpressionTest {
  private static final Map<String, String> WORKER = Map.of("arch", "x86", "zone", "b", "gpu", "2");

  @ParameterizedTest
  @ValueSource(
      strings = {
        "arch == 'x86'",
        "arch==\"x86\"and(zone!='a')",
        "zone in ['a', 'b']",
        "zone in ['b']",
        "zone not in ['a']",
        "gpu",
        "not spot",
        "not not gpu",
        "not (arch == 'arm64' or zone == 'a')",
        "spot or gpu",
        "spot and spot or gpu",
        "gpu or spot and spot",
        "not spot and gpu",
        "spot != 'yes'",
        "spot not in ['yes', 'no']",
        " \n arch\t==\n'x86' "
      })
  void fits(String text) throws Exception {
    assertThat(LabelExpression.parse(text).holds(WORKER)).isTrue();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "arch == 'X86'",
        "arch != 'x86'",
        "zone in ['a', 'c']",
        "zone not in ['b']",
        "spot",
        "spot == 'yes'",
        "spot in ['yes']",
        "not gpu",
        "gpu and spot",
        "(gpu or spot) and spot",
        "not (gpu or spot)",
        "arch == ''"
      })
  void doesNotFit(String text) throws Exception {
    assertThat(LabelExpression.parse(text).holds(WORKER)).isFalse();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "'' ; expected the name of a label, found the end at character 1 ;",
        "arch = 'x86' ; expected and, or, or the end, found \"=\" at character 6 ; compare with ==",
        "arch == x86 ; expected a text in quotes, such as 'x86', found \"x86\" at character 9 ;",
        "arch == ; expected a text in quotes, such as 'x86', found the end at character 8 ;",
        "a && b ; expected and, or, or the end, found \"&&\" at character 3 ; write and",
        "a || b ; expected and, or, or the end, found \"||\" at character 3 ; write or",
        "!a ; expected the name of a label, found \"!\" at character 1 ; write not",
        "a AND b ; expected and, or, or the end, found \"AND\" at character 3 ; write it in small letters",
        "a in ('b') ; expected a list in brackets, such as ['a', 'b'], found \"(\" at character 6 ;",
        "a in ['b' ; expected , or ], found the end at character 10 ;",
        "a in [] ; expected a text in quotes, such as 'x86', found \"]\" at character 7 ;",
        "a not 'b' ; expected in, found \"'b'\" at character 7 ;",
        "(a ; expected ), found the end at character 3 ;",
        "a) ; expected and, or, or the end, found \")\" at character 2 ;",
        "and ; expected the name of a label, found \"and\" at character 1 ;",
        "a == 'b ; expected a text in quotes, such as 'x86', found \"'\" at character 6 ; the closing quote is missing",
        "7up ; expected the name of a label, found \"7up\" at character 1 ;",
        "a == 'b' c ; expected and, or, or the end, found \"c\" at character 10 ;"
      },
      quoteCharacter = '`')
  void whatIsWrongIsSaidWithItsPosition(String text, String message, String hint) {
    LabelSyntaxException error =
        catchThrowableOfType(
            LabelSyntaxException.class, () -> LabelExpression.parse(text.equals("''") ? "" : text));
    assertThat(error).hasMessage(message);
    assertThat(error.hint()).isEqualTo(hint);
  }

  @Test
  void depthAndLengthAreBounded() throws Exception {
    assertThat(LabelExpression.parse("(".repeat(49) + "a" + ")".repeat(49)).holds(Map.of("a", "1")))
        .isTrue();
    assertThatThrownBy(() -> LabelExpression.parse("(".repeat(500)))
        .hasMessageContaining("nested more than 50 deep at character 51");
    assertThatThrownBy(() -> LabelExpression.parse("a" + " ".repeat(LabelExpression.LONGEST)))
        .hasMessageContaining("longer than 1000 characters");
  }

  @Test
  void itKnowsItsNames() throws Exception {
    TreeSet<String> names = new TreeSet<>();
    LabelExpression.parse("b == '1' and not (a or c in ['x']) or a").addNames(names);
    assertThat(names).containsExactly("a", "b", "c");
    assertThat(LabelExpression.ANY.holds(Map.of())).isTrue();
    assertThat(LabelExpression.parse("a")).isEqualTo(LabelExpression.parse("a"));
    assertThat(LabelExpression.parse("a")).isNotEqualTo(LabelExpression.parse("b"));
  }

  private static List<String> problems(List<String> texts) {
    List<String> problems = new ArrayList<>();
    Map<String, String> labels = Labels.parse(texts, problems);
    assertThat(labels).hasSizeLessThanOrEqualTo(texts.size());
    return problems;
  }

  @Test
  void labelsOfFlags() {
    List<String> problems = new ArrayList<>();
    assertThat(Labels.parse(List.of("arch=arm64", "a.b/c-d=1:2"), problems))
        .containsOnly(Map.entry("arch", "arm64"), Map.entry("a.b/c-d", "1:2"));
    assertThat(problems).isEmpty();
    assertThat(Labels.shown(Map.of("b", "2", "a", "1"))).isEqualTo("a=1, b=2");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "arch | expected NAME=VALUE",
        "=x | a name has 1 to 63",
        "not=x | is none of and, or, not, in",
        "grün=x | a name has 1 to 63",
        "a b=x | a name has 1 to 63",
        "a= | a value has 1 to 63",
        "a=it's | a value has 1 to 63",
        "a=b c | a value has 1 to 63"
      },
      quoteCharacter = '`')
  void oddLabelsAreRefused(String text, String message) {
    assertThat(problems(List.of(text)))
        .singleElement()
        .asString()
        .startsWith(text)
        .contains(message);
  }

  @Test
  void everyProblemOfLabelsIsSaid() {
    assertThat(problems(List.of("a=1", "a=2", "b", "c=")))
        .satisfiesExactly(
            one -> assertThat(one).isEqualTo("a=2: the label a is given twice, first as 1"),
            two -> assertThat(two).startsWith("b: expected"),
            three -> assertThat(three).startsWith("c=: a value"));
    assertThat(problems(IntStream.range(0, 65).mapToObj(i -> "l" + i + "=1").toList()))
        .containsExactly("a worker has at most 64 labels");
  }
}
