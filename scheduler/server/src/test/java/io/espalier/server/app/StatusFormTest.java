package io.espalier.server.app;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.json.Json;
import io.espalier.core.running.Invocation;
import io.espalier.core.running.TaskResult;
import io.espalier.core.status.StatusParser;
import io.espalier.json.JsonReader;
import org.junit.jupiter.api.Test;

/** The {@code status} of the events of tasks. */
class StatusFormTest {
  private static final Invocation INVOCATION = new Invocation(1, 2, 3);

  private static Json.Obj form(TaskResult end) {
    return WorkerProcess.statusForm(new StatusParser(JsonReader::parse), end);
  }

  @Test
  void aTaskThatFailedToStartHasTheStatusThatBistroGivesIt() {
    Json.Obj form =
        form(
            TaskResult.of("j", "n", INVOCATION, TaskResult.Kind.START_FAILED)
                .withMessage("no such file"));
    assertThat(form.get("result_bits")).isEqualTo(Json.of(96));
    assertThat(form.get("data"))
        .isEqualTo(Json.object().put("exception", "could not be started: no such file").build());
  }

  @Test
  void whatWroteNoStatusHasOneOnlyForItsJob() {
    assertThat(form(TaskResult.exited("j", "n", INVOCATION, null, 0))).isEqualTo(Json.Obj.EMPTY);
    assertThat(form(TaskResult.exited("j", "n", INVOCATION, "done", 0)).get("result_bits"))
        .isEqualTo(Json.of(4));
  }
}
