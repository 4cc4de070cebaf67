package io.espalier.cli.client.top;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.json.Json;
import io.espalier.json.JsonReader;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jline.utils.AttributedString;
import org.junit.jupiter.api.Test;

class TopViewTest {
  private static final String JOBS =
      "{'jobs':[{'name':'backup','level':'db','valid':true,'enabled':true,'rate_per_second':2.5,"
          + "'seconds_left':90,'progress':{'total':100,'done':50,'running':10,'failed':5,'waiting':5,"
          + "'ready':30}},{'name':'日本','valid':true,'enabled':true,'paused':true,"
          + "'progress':{'total':0}},{'name':'big','valid':true,'enabled':true,"
          + "'progress':{'total':10000000,'done':9999999,'running':1}}]}";
  private static final String TREE =
      "{'nodes':[{'name':'h1','level':'host','resources':[{'resource':'net','used':1,'limit':4},"
          + "{'resource':'conn','used':2,'limit':2}],'states':{'waiting':3,'ready':4}},"
          + "{'name':'site','level':'instance','resources':[],'states':{}},"
          + "{'name':'h2','level':'host','resources':[{'resource':'conn','used':2,'limit':2}],"
          + "'states':{'waiting':9}},{'name':'h3','level':'host','resources':["
          + "{'resource':'conn','used':0,'limit':2}],'states':{'ready':50}}]}";

  private static final TopData DATA = TopData.of(parsed(JOBS), parsed(TREE), 1_700_000_000_000L);

  private static Json.Obj parsed(String text) {
    return (Json.Obj) Objects.requireNonNull(JsonReader.parse(text.replace('\'', '"')).value());
  }

  private static List<String> plain(TopData data, TopState state, int width, int height) {
    return new TopView(width, height, false, true)
        .lines(data, state, "http://here:8080").stream()
            .map(line -> line.toString().stripTrailing())
            .toList();
  }

  @Test
  void onAnUsualTerminalJobsAndTheHottestNodesAreSeen() {
    List<String> lines = plain(DATA, TopState.START, 80, 14);
    assertThat(lines.get(0))
        .isEqualTo(
            "espalier  http://here:8080  2023-11-14T22:13:20Z  3 jobs, 11 running, 5 failed");
    assertThat(lines.get(1)).startsWith("JOB ").endsWith("WAIT   FAIL     RATE   LEFT");
    assertThat(lines.get(2))
        .matches("backup +enabled +█+▓+▚+░+·+ +50 +10 +30 +5 +5 +2\\.5/s +1m30s");
    assertThat(lines.get(3)).matches("big +enabled +█+▓ +99 +1 +0 +0 +0");
    assertThat(lines.get(4)).matches("日本 +paused +·+ +- +0 +0 +0 +0");
    assertThat(lines.get(6)).matches("HOTTEST NODES +LEVEL +LIMIT +USE +WAITING");
    assertThat(lines.get(7)).matches("h2 +host +conn +2/2 +█+ +9");
    assertThat(lines.get(8)).matches("h1 +host +conn +2/2 +█+ +7");
    assertThat(lines.get(9)).matches("h3 +host +conn +0/2 +·+ +50");
    assertThat(lines.get(13)).contains("q quit", "enter explain", "sort (name)");
    assertThat(lines).hasSize(14);
  }

  @Test
  void brakesStandBelowTheHeading() {
    TopData braked =
        new TopData(
            1,
            List.of("nothing starts", "another"),
            List.of(),
            DATA.jobs(),
            DATA.hot(),
            List.of(),
            "");
    assertThat(new TopView(80, 24, false, true).lines(braked, TopState.START, "s").get(1))
        .hasToString("brake (and 1 more): nothing starts");
  }

  @Test
  void windowsStandBelowBrakesThoseThatAreClosedFirst() {
    TopData data =
        TopData.of(
            parsed(
                "{'jobs':[],'brakes':[{'message':'slow'}],'windows':["
                    + "{'open':true,'message':'job a may start tasks until Tue 05:00 CET'},"
                    + "{'open':false,'message':'window of job b opens Mon 22:00 CET'}]}"),
            Json.Obj.EMPTY,
            1);
    assertThat(plain(data, TopState.START, 80, 24).subList(1, 3))
        .containsExactly("brake: slow", "window (and 1 more): window of job b opens Mon 22:00 CET");
  }

  @Test
  void everySizeIsFilledAndNeverExceeded() {
    List<TopData.Job> many = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      many.add(
          new TopData.Job(
              "job-with-a-rather-long-name-" + i,
              "enabled",
              1_000_000_000,
              i,
              i,
              9_000_000,
              i,
              i,
              i,
              i,
              "12345/s",
              i,
              "100d23h"));
    }
    List<String> wide = List.of("x".repeat(500));
    TopData full = new TopData(1, wide, wide, many, DATA.hot(), wide, "");
    for (int width = 20; width <= 200; width += 7) {
      for (int height = 6; height <= 60; height += 9) {
        for (TopState state :
            new TopState[] {
              TopState.START,
              new TopState(TopState.Sort.FAILED, true, 99, 2, null, true),
              new TopState(TopState.Sort.NAME, false, 99, 0, new TopState.Subject("", "j"), false)
            }) {
          for (TopData data : new TopData[] {full, DATA, TopData.NONE}) {
            int most = width;
            List<AttributedString> lines =
                new TopView(width, height, true, height % 2 == 0)
                    .lines(data, state, "s".repeat(99));
            assertThat(lines).as("%s x %s", width, height).hasSize(height);
            assertThat(lines).allMatch(line -> line.columnLength() <= most);
          }
        }
      }
    }
  }

  @Test
  void theSelectedJobIsAlwaysSeen() {
    List<TopData.Job> many = new ArrayList<>();
    for (int i = 10; i < 60; i++) {
      many.add(new TopData.Job("j" + i, "enabled", 1, 0, 0, 0, 0, 0, 0, 0, "", Long.MAX_VALUE, ""));
    }
    TopData data = new TopData(1, List.of(), List.of(), many, DATA.hot(), List.of(), "");
    TopState state = TopState.START;
    for (int i = 0; i < 50; i++) {
      String selected = name(data, state);
      assertThat(plain(data, state, 80, 24)).anyMatch(line -> line.startsWith(selected));
      state = state.after(TopState.Key.DOWN, data);
    }
    assertThat(state.job()).isEqualTo(49);
  }

  private static String name(TopData data, TopState state) {
    return state.sort().sorted(data.jobs()).get(state.job()).name();
  }

  @Test
  void whatIsThereAtAllHasAColumnAndTogetherTheyFit() {
    assertThat(TopView.shares(new long[] {1, 1, 1, 1}, 1_000_000, 10)).containsExactly(1, 1, 1, 1);
    assertThat(TopView.shares(new long[] {999_999, 1, 0, 0}, 1_000_000, 10))
        .containsExactly(9, 1, 0, 0);
    assertThat(TopView.shares(new long[] {0, 0, 0, 0}, 0, 10)).containsExactly(0, 0, 0, 0);
    assertThat(TopView.shares(new long[] {5, 0, 0, 0}, 5, 10)).containsExactly(10, 0, 0, 0);
  }

  @Test
  void keysChooseSortOpenAndFreeze() {
    TopState sorted = TopState.START.after(TopState.Key.SORT, DATA);
    assertThat(sorted.sort()).isEqualTo(TopState.Sort.RUNNING);
    assertThat(name(DATA, sorted)).isEqualTo("backup");
    TopState opened = TopState.START.after(TopState.Key.DOWN, DATA).after(TopState.Key.OPEN, DATA);
    assertThat(opened.opened()).isEqualTo(new TopState.Subject("", "big"));
    assertThat(opened.after(TopState.Key.BACK, DATA).open()).isFalse();
    TopState node = TopState.START.after(TopState.Key.OTHER_LIST, DATA);
    assertThat(node.after(TopState.Key.OPEN, DATA).opened())
        .isEqualTo(new TopState.Subject("host", "h2"));
    assertThat(TopState.START.after(TopState.Key.UP, DATA).job()).isZero();
    assertThat(TopState.START.after(TopState.Key.PAGE_DOWN, DATA).job()).isEqualTo(2);
    assertThat(TopState.START.after(TopState.Key.OPEN, TopData.NONE).open()).isFalse();
    assertThat(plain(DATA, TopState.START.after(TopState.Key.FREEZE, DATA), 120, 20).get(0))
        .contains("[frozen]");
  }

  @Test
  void theDetailIsShownAndTroubleIsSaid() {
    TopState opened = TopState.START.after(TopState.Key.OPEN, DATA);
    assertThat(plain(DATA.withDetail(List.of("  7  h1 is full\u001b[31m")), opened, 80, 10))
        .contains("what the tasks of backup wait for", "  7  h1 is full\ufffd[31m");
    assertThat(plain(DATA.withProblem("cannot reach it"), TopState.START, 80, 10).get(0))
        .isEqualTo("cannot reach it");
  }

  @Test
  void charactersOfATerminalBecomeKeys() throws Exception {
    List<TopState.Key> keys = new ArrayList<>();
    int[] sent = {
      's', 27, '[', 'A', 27, '[', 'B', 27, 'O', 'A', 27, '[', '5', '~', 27, '[', '6', '~', 27, -2,
      '\r', '\t', 'p', 'x', 27, '[', '1', ';', '5', 'C', 'q'
    };
    int[] at = {0};
    TopKeys reader = new TopKeys(millis -> at[0] < sent.length ? sent[at[0]++] : -2);
    while (at[0] < sent.length) {
      keys.add(reader.next(1));
    }
    assertThat(keys)
        .containsExactly(
            TopState.Key.SORT,
            TopState.Key.UP,
            TopState.Key.DOWN,
            TopState.Key.UP,
            TopState.Key.PAGE_UP,
            TopState.Key.PAGE_DOWN,
            TopState.Key.BACK,
            TopState.Key.OPEN,
            TopState.Key.OTHER_LIST,
            TopState.Key.FREEZE,
            TopState.Key.NONE,
            TopState.Key.OTHER_LIST,
            TopState.Key.QUIT);
    assertThat(new TopKeys(millis -> -1).next(1)).isEqualTo(TopState.Key.QUIT);
  }
}
