package io.espalier.webui.fleet;

import static io.espalier.webui.fleet.Views.answered;
import static io.espalier.webui.fleet.Views.counts;
import static io.espalier.webui.fleet.Views.dead;
import static io.espalier.webui.fleet.Views.fleet;
import static io.espalier.webui.fleet.Views.halted;
import static io.espalier.webui.fleet.Views.job;
import static io.espalier.webui.fleet.Views.never;
import static io.espalier.webui.fleet.Views.part;
import static io.espalier.webui.fleet.Views.stuck;
import static io.espalier.webui.fleet.Views.summary;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.ThreadMXBean;
import io.espalier.core.json.Json;
import io.espalier.json.JsonReader;
import io.espalier.webui.fleet.poll.Counts;
import io.espalier.webui.fleet.poll.FleetSchedulerState;
import io.espalier.webui.fleet.poll.FleetSchedulerView;
import io.espalier.webui.fleet.poll.FleetView;
import io.espalier.webui.fleet.poll.SchedulerSummary;
import io.espalier.webui.fleet.poll.SummaryParser;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class JoiningTest {
  private static Json json(String text) {
    return Objects.requireNonNull(JsonReader.parse(text).value());
  }

  @Test
  void countsAreSummedAndMostDecideWhatTheSettingsAre() {
    FleetView view =
        fleet(
            answered("a", summary("1", job("scan", "aa", counts(5, 1)))),
            answered("b", summary("2", job("scan", "bb", counts(2, 0)))),
            answered(
                "c", summary("3", job("scan", "bb", counts(3, 0)), job("x", "x", counts(1, 0)))),
            dead("d"));
    Map<String, AggregatedJob> jobs = AggregatedJob.join(view);
    assertThat(jobs.keySet()).containsExactly("scan", "x");
    AggregatedJob scan = Objects.requireNonNull(jobs.get("scan"));
    assertThat(scan.counts()).isEqualTo(counts(10, 1));
    assertThat(scan.configs())
        .containsExactly(
            new ValueGroup("bb", List.of("b", "c")), new ValueGroup("aa", List.of("a")));
    assertThat(scan.differing()).isEqualTo(1);
    assertThat(scan.isTied()).isFalse();
    assertThat(scan.count("enabled", "true")).isEqualTo(3);
  }

  @Test
  void noneOfTwoEquallyFrequentSettingsIsThatOfMost() {
    FleetView view =
        fleet(
            answered("a", summary("1", job("scan", "aa", counts(5, 1)))),
            answered("b", summary("2", job("scan", "bb", counts(2, 0)))));
    assertThat(Objects.requireNonNull(AggregatedJob.join(view).get("scan")).isTied()).isTrue();
  }

  @Test
  void jobsThatCannotGoOnAreFoundWithWhereHowManyTasksAndWhy() {
    FleetView view =
        fleet(
            answered(
                "a", summary("1", job("scan", "aa", counts(5, 1)), never("copy", 2, "a is 0"))),
            answered("b", summary("2", stuck("copy", 7, "no nodes"), never("last", 9, "b is 0"))),
            answered("c", summary("3", halted("copy"))));
    Map<String, AggregatedJob> jobs = AggregatedJob.join(view);
    assertThat(HinderedJob.of(jobs))
        .extracting(job -> (Json) job.json())
        .containsExactly(
            json(
                """
                {"job":"copy","tasks":9,"schedulers":2,"hosts":[
                  {"id":"b","tasks":7,"stuck":true,"reason":"no nodes"},
                  {"id":"a","tasks":2,"stuck":false,"reason":"a is 0"}]}\
                """),
            json(
                """
                {"job":"last","tasks":9,"schedulers":1,"hosts":[
                  {"id":"b","tasks":9,"stuck":false,"reason":"b is 0"}]}\
                """));
    assertThat(FleetJson.job(Objects.requireNonNull(jobs.get("copy"))).build().members())
        .containsEntry("hindered_on", Json.of(2))
        .containsEntry("tasks_hindered", Json.of(9))
        .containsEntry("stuck_on", Json.of(1))
        .containsEntry("halted_on", Json.of(1));
    assertThat(FleetJson.job(Objects.requireNonNull(jobs.get("last"))).build().members())
        .containsEntry("rate_per_second", Json.of(0.5))
        .as("it never ends")
        .doesNotContainKey("seconds_left");
  }

  @Test
  void twoAddressesOfOneSchedulerCountOnce() {
    FleetView view =
        fleet(
            answered("a", summary("same", job("scan", "aa", counts(5, 0)))),
            answered("b", summary("same", job("scan", "aa", counts(5, 0)))));
    assertThat(Objects.requireNonNull(AggregatedJob.join(view).get("scan")).counts())
        .isEqualTo(counts(5, 0));
    assertThat(view.sameProcess()).containsExactly(Map.entry("b", "a"));
    assertThat(FleetProblems.of(view, Map.of(), Duplicates.Report.NONE, Duplicates.Report.NONE))
        .singleElement()
        .satisfies(trouble -> assertThat(trouble.hosts()).containsExactly("b"));
  }

  @Test
  void troublesAreGroupedAndErrorsComeFirst() {
    FleetView view =
        fleet(
            dead("a"),
            dead("b"),
            answered("c", summary("1", job("scan", "aa", counts(1, 0)))),
            answered("d", summary("2", job("scan", "aa", counts(1, 0)))),
            answered("e", summary("3", job("scan", "bb", counts(1, 0)))));
    List<FleetProblems.Trouble> troubles =
        FleetProblems.of(
            view, AggregatedJob.join(view), Duplicates.Report.NONE, Duplicates.Report.NONE);
    assertThat(troubles)
        .extracting(FleetProblems.Trouble::kind)
        .containsExactly("connection", "settings");
    assertThat(troubles.get(0).count()).isEqualTo(2);
    assertThat(troubles.get(0).error()).isTrue();
    assertThat(troubles.get(1).hosts()).containsExactly("e");
  }

  private static List<String> overlaps(FleetSchedulerView... parts) {
    return FleetProblems.of(fleet(parts), Map.of(), Duplicates.Report.NONE, Duplicates.Report.NONE)
        .stream()
        .filter(FleetProblems.Trouble::error)
        .peek(trouble -> assertThat(trouble.message()).contains("tasks can run on two of them"))
        .flatMap(trouble -> trouble.hosts().stream())
        .toList();
  }

  @Test
  void schedulersThatDivideTheNodesOfAJobDifferentlyAreFound() {
    SchedulerSummary.Job scan = job("scan", "aa", counts(1, 0));
    SchedulerSummary.Job copy = job("copy", "bb", counts(1, 0));
    assertThat(overlaps(part("a", "0/3", scan), part("b", "1/3", scan))).isEmpty();
    assertThat(overlaps(part("a", "0/3", scan), part("b", "1/4", scan, copy)))
        .containsExactly("a", "b");
    assertThat(overlaps(part("a", "0/3", scan), part("b", "0/3", scan), part("c", "1/3", scan)))
        .as("the same part")
        .containsExactly("a", "b");
    assertThat(overlaps(part("a", "0/3", scan), part("b", "1/4", copy)))
        .as("of different configurations")
        .isEmpty();
    assertThat(overlaps(part("a", "0/1", scan), part("b", "0/1", scan), part("c", "0/2", scan)))
        .as("without a division, each has nodes of its own")
        .isEmpty();
  }

  /** Returns how many bytes it costs to look at schedulers of as many configurations. */
  private static long bytesOfOverlaps(int schedulers) {
    FleetSchedulerView[] parts =
        IntStream.range(0, schedulers)
            .mapToObj(i -> part("s" + i, "0/2", job("job" + i, "aa", counts(1, 0))))
            .toArray(FleetSchedulerView[]::new);
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long before = threads.getCurrentThreadAllocatedBytes();
    assertThat(overlaps(parts)).isEmpty();
    return threads.getCurrentThreadAllocatedBytes() - before;
  }

  @Test
  void schedulersOfOtherJobsAreNotComparedWithEachOther() {
    bytesOfOverlaps(10); // Loads the classes.
    assertThat(2 * bytesOfOverlaps(1_000)).isLessThan(5 * bytesOfOverlaps(500));
  }

  @Test
  void aClockThatIsWrongIsSaidBecauseLogsAreMergedByTime() {
    SchedulerSummary wrong = summary("1");
    FleetSchedulerView host =
        new FleetSchedulerView(
            Views.address("a"),
            FleetSchedulerState.ANSWERED,
            "",
            Views.NOW,
            Views.NOW + 60_000,
            5,
            0,
            wrong);
    assertThat(
            FleetProblems.of(fleet(host), Map.of(), Duplicates.Report.NONE, Duplicates.Report.NONE))
        .extracting(FleetProblems.Trouble::kind)
        .containsExactly("clock");
  }

  @Test
  void aTaskThatRunsOnTwoSchedulersIsFoundWithBoth() {
    List<SchedulerSummary.Running> one = List.of(new SchedulerSummary.Running("scan", "n1", 1));
    Duplicates.Report report =
        Duplicates.running(
            fleet(
                answered("a", summary("1", one, List.of())),
                answered(
                    "b",
                    summary(
                        "2", List.of(new SchedulerSummary.Running("scan", "n2", 1)), List.of())),
                answered("c", summary("3", one, List.of()))));
    assertThat(report.total()).isEqualTo(1);
    assertThat(report.looked()).isEqualTo(3);
    assertThat(report.listed())
        .containsExactly(Map.entry(new Duplicates.Found("scan", "n1"), List.of("a", "c")));
  }

  @Test
  void namesOfOneSchedulerAreNoDuplicatesAndGroupsAreKeptApart() {
    Duplicates duplicates = new Duplicates();
    duplicates.next("a", false);
    for (int i = 0; i < 5_000; i++) {
      duplicates.has("db", "n" + i);
    }
    duplicates.has("db", "n0");
    duplicates.next("b", true);
    duplicates.has("host", "n0");
    for (int i = 4_850; i < 9_000; i++) {
      duplicates.has("db", "n" + i);
    }
    Duplicates.Report report = duplicates.report(1);
    assertThat(report.total()).isEqualTo(150);
    assertThat(report.listed()).hasSize(100);
    assertThat(report.cutHosts()).isEqualTo(1);
    assertThat(report.looked()).isEqualTo(5_001 + 1 + 4_150);
  }

  @Test
  void aDifferenceNamesItsPath() {
    assertThat(
            JsonDiff.of(
                json("{\"a\":{\"b\":[1,2],\"c\":1},\"same\":[1],\"gone\":1}"),
                json("{\"a\":{\"b\":[1,3],\"c\":1.0},\"same\":[1],\"new\":[1]}"),
                10))
        .extracting(JsonDiff.Change::path)
        .containsExactly("a.b[1]", "gone", "new");
    assertThat(JsonDiff.of(json("[1,2]"), json("[1]"), 10))
        .extracting(JsonDiff.Change::path)
        .containsExactly("");
    assertThat(JsonDiff.of(json("[1,2,3]"), json("[4,5,6]"), 2)).hasSize(2);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "[]",
        "1",
        "{}",
        "{\"jobs\":1,\"at_ms\":1}",
        "{\"jobs\":[]}",
        "{\"jobs\":[1],\"at_ms\":1}",
        "{\"jobs\":[{}],\"at_ms\":1}",
        "{\"jobs\":[],\"errors\":[[]],\"at_ms\":1}"
      })
  void whatIsNoSummaryIsRefused(String text) {
    assertThatThrownBy(() -> new SummaryParser().read(json(text)))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void hostileNumbersAndTextsAreBounded() {
    SchedulerSummary read =
        new SummaryParser()
            .read(
                json(
                    "{\"at_ms\":1e999999,\"nodes\":-5,\"jobs\":[{\"name\":\""
                        + "x".repeat(10_000)
                        + "\",\"priority\":1e999999,\"progress\":{\"total\":1e300,\"done\":-1}}]}"));
    assertThat(read.atMillis()).isZero();
    assertThat(read.nodes()).isZero();
    assertThat(read.jobs().get(0).name()).hasSizeLessThan(600);
    assertThat(read.jobs().get(0).counts()).isEqualTo(Counts.NONE);
  }

  @Test
  void tooManyJobsAreCutAndThatIsSaid() {
    StringBuilder jobs = new StringBuilder("{\"name\":\"j0\"}");
    for (int i = 1; i < 6_000; i++) {
      jobs.append(",{\"name\":\"j").append(i).append("\"}");
    }
    SchedulerSummary read = new SummaryParser().read(json("{\"at_ms\":1,\"jobs\":[" + jobs + "]}"));
    assertThat(read.jobs()).hasSize(SummaryParser.MOST_JOBS);
    assertThat(read.cut()).isTrue();
  }
}
