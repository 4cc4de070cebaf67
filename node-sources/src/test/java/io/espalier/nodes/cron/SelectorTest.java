package io.espalier.nodes.cron;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.json.Json;
import io.espalier.core.problem.Problem;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SelectorTest {
  private static final Selector.Bounds ONE_TO_SEVEN =
      new Selector.Bounds(
          1, 7, Map.of("lulz", 1L, "tuesday", 3L, "tue", 3L, "bbq", 4L, "seven", 7L));

  private final List<Problem> problems = new ArrayList<>();

  private Selector read(String text) {
    return Selector.read(Items.json(text), new Place("s", problems::add), ONE_TO_SEVEN);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '"',
      value = {
        "{} | *",
        "[] | *",
        "{'period': 3} | 1-7:3",
        "{'period': '3'} | 1-7:3",
        "{'start': 2} | 2-7",
        "{'start': 'LuLz'} | *",
        "{'end': 'bbq'} | 1-4",
        "{'start': 'Tuesday', 'end': 'BBQ'} | 3-4",
        "{'end': 6, 'period': 2} | 1-6:2",
        "5 | 5",
        "'tue' | 3",
        "[7, 'lulz', 4, 3, 'TUESDAY'] | 1,3,4,7"
      })
  void k1SelectorsMeanWhatTheySay(String text, String printed) {
    assertThat(read(text)).hasToString(printed);
    assertThat(problems).isEmpty();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '"',
      value = {
        "{'period': 0} | s.period: expected a whole number from 1 to 5 as period",
        "{'period': -1} | s.period: expected a whole number from 1 to 5 as period",
        "{'period': 7} | s.period: expected a whole number from 1 to 5 as period",
        "{'period': 6} | s.period: expected a whole number from 1 to 5 as period",
        "{'period': 'x'} | s.period: expected a whole number from 1 to 5 as period",
        "{'start': 0} | s.start: expected a whole number from 1 to 7",
        "{'end': 8} | s.end: expected a whole number from 1 to 7",
        "{'begin': 2} | s.begin: unknown key \"begin\"",
        "1.5 | s: expected a whole number from 1 to 7",
        "[3, 2.5] | s[1]: expected a whole number from 1 to 7",
        "{'start': 1e99} | s.start: expected a whole number from 1 to 7",
        "'nope' | s: unknown name: write it in full, or its first three letters",
        "'lul' | s: unknown name: write it in full, or its first three letters",
        "true | s: expected a whole number from 1 to 7, not a boolean",
        "{'start': 5, 'end': 3} | s: the start 5 is after the end 3"
      })
  void k2MistakesAreNamed(String text, String problem) {
    Selector selector = read(text);
    assertThat(selector).isNotNull();
    assertThat(problems).extracting(p -> p.path() + ": " + p.message()).containsExactly(problem);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '"',
      value = {
        "{} | 0 | 1 | false",
        "{} | 7 | 7 | false",
        "{} | 8 | 1 | true",
        "5 | 5 | 5 | false",
        "5 | 1 | 5 | false",
        "5 | 6 | 5 | true",
        "[5, 2, 4] | 3 | 4 | false",
        "[5, 2, 4] | 6 | 2 | true",
        "{'start': 3, 'period': 2} | 4 | 5 | false",
        "{'start': 3, 'period': 2} | 1 | 3 | false",
        "{'start': 3, 'period': 2} | 7 | 7 | false",
        "{'start': 3, 'period': 2} | 8 | 3 | true"
      })
  void k3TheNextMatchMayCarry(String text, long from, long value, boolean carry) {
    assertThat(read(text).next(from)).isEqualTo(new Selector.Match(value, carry));
  }

  @Test
  void aValueThatMayBeASecretIsNotShown() {
    new Place("s", problems::add).key("api_key").error(Json.of("S3CR3T"), "is wrong", null);
    new Place("s", problems::add).error(Json.of("password=S3CR3T"), "is wrong", null);
    assertThat(problems).extracting(Problem::value).containsExactly(null, "\"password=***\"");
  }
}
