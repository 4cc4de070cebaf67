package io.espalier.core.problem;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ProblemPathTest {
  @Test
  void readsAsOneWouldWriteIt() {
    assertThat(ProblemPath.ROOT).hasToString("");
    assertThat(ProblemPath.ROOT.key("bistro_settings").key("nodes").key("levels").index(2))
        .hasToString("bistro_settings.nodes.levels[2]");
    assertThat(ProblemPath.ROOT.index(0).key("x")).hasToString("[0].x");
  }

  @Test
  void quotesKeysThatCouldBeMistaken() {
    assertThat(ProblemPath.ROOT.key("resources").key("my level").key("a.b").key("c"))
        .hasToString("resources[\"my level\"][\"a.b\"].c");
    assertThat(ProblemPath.ROOT.key("").key("\"\n")).hasToString("[\"\"][\"\\\"\\n\"]");
  }

  @Test
  void whatIsNoPathHasNoSegments() {
    assertThat(ProblemPath.segments("")).isEmpty();
    assertThat(ProblemPath.segments("a[")).isEmpty();
    assertThat(ProblemPath.segments("a]")).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 4, 5})
  void anyPathCanBeTakenApartAgain(int seed) {
    Random random = new Random(seed);
    String letters = "ab.[]\"\\ \n\té\u0000x0->:";
    for (int round = 0; round < 500; round++) {
      ProblemPath path = ProblemPath.ROOT;
      List<String> segments = new ArrayList<>();
      for (int depth = random.nextInt(6); depth > 0; depth--) {
        if (random.nextInt(4) == 0) {
          int index = random.nextInt(20);
          path = path.index(index);
          segments.add(String.valueOf(index));
          continue;
        }
        StringBuilder key = new StringBuilder();
        for (int i = random.nextInt(6); i > 0; i--) {
          key.append(letters.charAt(random.nextInt(letters.length())));
        }
        path = path.key(key.toString());
        segments.add(key.toString());
      }
      assertThat(ProblemPath.segments(path.toString())).as(path.toString()).isEqualTo(segments);
    }
  }
}
