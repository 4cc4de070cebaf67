package io.espalier.webui.fleet.action;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.espalier.core.json.Json;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LogMergeTest {
  private record Line(String host, long id, long millis) {
    Json json() {
      return Json.object()
          .put("id", Long.toString(id))
          .put("time_ms", millis)
          .put("text", host + " " + id)
          .build();
    }
  }

  /** What a scheduler gives for a page: the first lines of its own within the bounds. */
  private static List<Json> page(
      List<Line> all, String host, boolean ascending, LogMerge.Cursor cursor, int limit) {
    Comparator<Line> order = Comparator.comparingLong(Line::millis).thenComparingLong(Line::id);
    return all.stream()
        .filter(line -> line.host().equals(host))
        .filter(
            line ->
                cursor.skip() == 0
                    || (ascending
                        ? line.millis() >= cursor.millis()
                        : line.millis() <= cursor.millis()))
        .sorted(ascending ? order : order.reversed())
        .limit(limit)
        .map(Line::json)
        .toList();
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 4, 5, 6, 7, 8})
  void pageByPageEveryLineOfAllSchedulersComesOnceAndInOrder(int seed) {
    SplittableRandom random = new SplittableRandom(seed);
    boolean ascending = seed % 2 == 0;
    List<Line> all = new ArrayList<>();
    for (int i = 0; i < 300; i++) {
      all.add(new Line("h" + random.nextInt(5), i, 1_000 + i / 10));
    }
    List<String> read = new ArrayList<>();
    LogMerge.Cursor cursor = LogMerge.Cursor.START;
    String next;
    do {
      int limit = 1 + random.nextInt(20);
      int wanted = limit + cursor.skip();
      LogMerge merge = new LogMerge(ascending, wanted);
      for (int host = 0; host < 5; host++) {
        merge.add("h" + host, page(all, "h" + host, ascending, cursor, wanted));
      }
      LogMerge.Page page = merge.page(limit, cursor);
      for (Json line : page.lines()) {
        read.add(String.valueOf(((Json.Obj) line).get("text")));
      }
      next = page.next();
      cursor = LogMerge.Cursor.parse(next);
    } while (!next.isEmpty());
    assertThat(read).hasSize(300).doesNotHaveDuplicates();
    Comparator<Line> byTime = Comparator.comparingLong(Line::millis);
    assertThat(read.get(0))
        .contains(
            " "
                + all.stream()
                    .filter(l -> l.millis() == (ascending ? 1_000 : 1_029))
                    .min(
                        (ascending ? byTime : byTime.reversed())
                            .thenComparing(Line::host)
                            .thenComparingLong(l -> ascending ? l.id() : -l.id()))
                    .orElseThrow()
                    .id());
  }

  @Test
  void onlySoManyLinesAreKeptHoweverManySchedulersThereAre() {
    LogMerge merge = new LogMerge(false, 3);
    for (int host = 0; host < 100; host++) {
      merge.add("h" + host, List.of(new Line("h", 1, host).json()));
    }
    assertThat(merge.page(3, LogMerge.Cursor.START).lines())
        .extracting(line -> String.valueOf(((Json.Obj) line).get("host")))
        .containsExactly("\"h99\"", "\"h98\"", "\"h97\"");
  }

  @Test
  void whatIsNoLineIsLeftOut() {
    LogMerge merge = new LogMerge(false, 3);
    merge.add("h", List.of(Json.of(1), Json.object().put("text", "no time").build()));
    assertThat(merge.page(3, LogMerge.Cursor.START).lines()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"x", "1", "1:", ":1", "1:0", "-1:1", "1:1000", "9999999999999999999:1"})
  void aCursorThatNobodyGaveIsRefused(String text) {
    assertThatThrownBy(() -> LogMerge.Cursor.parse(text))
        .isInstanceOf(IllegalArgumentException.class);
  }
}
