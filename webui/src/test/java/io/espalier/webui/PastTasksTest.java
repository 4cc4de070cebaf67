package io.espalier.webui;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.event.EventKind;
import io.espalier.core.json.Json;
import io.espalier.core.running.Invocation;
import io.espalier.core.running.WorkerRef;
import io.espalier.core.status.TaskStatus;
import io.espalier.core.status.store.StatusRow;
import io.espalier.core.status.store.StatusRowEvents;
import io.espalier.testkit.api.ApiFixture;
import io.espalier.testkit.api.FakeEventFeed;
import io.espalier.testkit.api.FakeScheduler;
import java.net.http.HttpResponse;
import org.junit.jupiter.api.Test;

/** The tasks of a job at another time, over HTTP. */
class PastTasksTest {
  private static final long BEGIN = 1_700_000_000_000L;

  private final FakeScheduler scheduler =
      new FakeScheduler(new FakeEventFeed(1000))
          .load(ApiFixture.config(), ApiFixture.topology(), ApiFixture.NOW_MILLIS);

  private void happens(EventKind kind, String job, String node, TaskStatus status) {
    StatusRow row =
        new StatusRow(
            job, node, status, new Invocation(3, 17, status.sinceMillis()), new WorkerRef("w1", 5));
    Json.Builder data = Json.object().put("job", job).put("node", node);
    scheduler
        .events()
        .add(status.sinceMillis(), kind.word(), StatusRowEvents.put(data, row).build());
  }

  /** Two tasks start at 1 s; one is done at 2 s, the other waits for a minute from 3 s on. */
  private void live() {
    for (String node : new String[] {"d11", "d12"}) {
      happens(
          EventKind.TASK_STARTED,
          "backup",
          node,
          TaskStatus.of(TaskStatus.Main.RUNNING, BEGIN + 1_000, 1));
    }
    happens(
        EventKind.TASK_ENDED,
        "backup",
        "d11",
        TaskStatus.of(TaskStatus.Main.DONE, BEGIN + 2_000, 1));
    happens(EventKind.TASK_ENDED, "backup", "d12", TaskStatus.waiting(BEGIN + 3_000, 60, 1));
  }

  private static Json.Obj at(Served served, long millis, String more) {
    return Served.object(
        served.get("/api/v1/jobs/backup/past-tasks?at_ms=" + (BEGIN + millis) + more));
  }

  @Test
  void theTasksOfAJobAreShownAsTheyWere() {
    live();
    try (Served served = Served.of(scheduler)) {
      assertThat(at(served, 1_500, "").get("statuses")).isEqualTo(Served.json("{\"running\": 2}"));
      assertThat(at(served, 2_500, "&status=running"))
          .isEqualTo(
              Served.json(
                  """
                  {"job": "backup", "at_ms": 1700000002500, "sequence": 3,
                   "since_ms": 1700000001000, "complete": true,
                   "statuses": {"done": 1, "running": 1},
                   "tasks": [{"node": "d12", "status": "running", "bits": 2, "attempts": 1,
                     "since_ms": 1700000001000, "invocation": "3.17", "worker": "w1"}],
                   "next": ""}
                  """));
      assertThat(String.valueOf(at(served, 2_500, "&status=running&status=done").get("tasks")))
          .contains("d11", "d12");
      Json.Obj first = at(served, 3_500, "&limit=1");
      assertThat(first.get("next")).isEqualTo(Json.of("d11"));
      assertThat(String.valueOf(at(served, 3_500, "&limit=1&after=d11").get("tasks")))
          .contains("\"d12\"", "\"until_ms\":1700000063000")
          .doesNotContain("d11", "worker");
      assertThat(String.valueOf(at(served, 3_500, "&node=d12").get("statuses")))
          .doesNotContain("done");
      assertThat(at(served, 0, "").get("tasks")).isEqualTo(Served.json("[]"));
    }
  }

  @Test
  void whatIsGoneOrCannotBeIsSaid() {
    try (Served served = Served.of(scheduler)) {
      assertThat(refusal(served, "nobody", "", 404)).contains("no job", "nobody");
      assertThat(refusal(served, "backup", "at_ms=32503680000000", 400))
          .contains("at_ms", "is in the future: 3000-01-01T00:00:00Z");
      assertThat(refusal(served, "backup", "at_ms=5&from_ms=6", 400)).contains("later than");
      assertThat(refusal(served, "backup", "at_ms=today", 400)).contains("at_ms");
      assertThat(refusal(served, "backup", "at=5", 400)).contains("unknown parameter");
    }
    FakeScheduler forgetful =
        new FakeScheduler(new FakeEventFeed(2))
            .load(ApiFixture.config(), ApiFixture.topology(), ApiFixture.NOW_MILLIS);
    for (int i = 0; i < 5; i++) {
      forgetful.events().add(BEGIN + i * 1_000L, "config_in_force", Json.Obj.EMPTY);
    }
    try (Served served = Served.of(forgetful)) {
      assertThat(refusal(served, "backup", "at_ms=" + (BEGIN + 1_000), 410))
          .contains(
              "events of 2023-11-14T22:13:21Z are gone",
              "the oldest that is kept is of 2023-11-14T22:13:23Z");
      assertThat(at(served, 3_500, "").get("complete")).isEqualTo(Served.json("false"));
    }
  }

  private static String refusal(Served served, String job, String query, int status) {
    HttpResponse<String> answer = served.get("/api/v1/jobs/" + job + "/past-tasks?" + query);
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(status);
    return answer.body();
  }
}
