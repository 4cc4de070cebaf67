package io.espalier.core.loop;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What running tasks are told of the health of their node (docs/adr/0074-health.md). */
class HealthThrottlesTest extends ProbedLoop {
  private List<String> throttles() {
    List<String> told = new ArrayList<>(world.throttles);
    told.sort(null);
    world.throttles.clear();
    return told;
  }

  @Test
  void runningTasksAreToldHowFastToWorkAtMostOnceASecond() {
    world.configure(config(""));
    answer(Map.of("h1", 1.0, "h2", 1.0));
    assertThat(running("abcdef")).isEqualTo(4);
    answers(1, 9);
    world.advance(1_000);
    assertThat(throttles())
        .as("those on the other host work on")
        .containsExactly(
            "g 0.5 probe lag is 9 (bad above 5)",
            "i 0.5 probe lag is 9 (bad above 5)",
            "j 0.5 probe lag is 9 (bad above 5)",
            "k 0.5 probe lag is 9 (bad above 5)");
    answers(1, 9);
    world.advance(1_000);
    assertThat(throttles()).as("nothing has changed").isEmpty();
    for (int i = 0; i < 6; i++) {
      answers(1, 1);
    }
    world.advance(1_000);
    assertThat(throttles().stream().filter(told -> told.startsWith("g")))
        .containsExactly("g 0.75 probe lag is 1 (good below 2), after bad values", "g 1");
    // Several changes within a second are told as one.
    answers(9, 9);
    world.now += 10;
    answer(Map.of("h1", 1.0, "h2", 1.0));
    world.advance(1_000);
    assertThat(throttles()).hasSize(8).allMatch(told -> told.contains(" 0.5 "));
    world.configure(config(LAG.formatted("file", ""), "", 1));
    world.advance(1_000);
    assertThat(throttles())
        .as("nothing slows them down any more")
        .hasSize(8)
        .allMatch(t -> t.endsWith(" 1"));
  }

  @Test
  void aTaskThatStartsOnASlowHostIsToldAndOneWithoutSlotsIsNot() {
    configure(config(""), 9, 1);
    world.advance(1_000);
    assertThat(running("abcdef")).isEqualTo(2);
    assertThat(throttles()).hasSize(2).allMatch(told -> told.contains(" 0.5 probe lag is 9"));
    world.configure(config(LAG.formatted("file", ""), ", \"follows\": [\"lag\"]", 0));
    world.advance(1_000);
    throttles();
    answers(9, 9);
    world.advance(1_000);
    assertThat(throttles()).filteredOn(told -> told.startsWith("c")).isEmpty();
  }

  @Test
  void valuesThatAreTooOldPauseAndAfterARestartNothingIsSaidBeforeTheFirstValue() {
    world.isRemote = true;
    world.configure(config(""));
    answer(Map.of("h1", 1.0, "h2", 1.0));
    world.advance(62_000);
    assertThat(throttles()).hasSize(8).allMatch(told -> told.contains(" 0 probe lag is "));
    world.crashAndRestart();
    world.configure(config(""));
    world.advance(2_000);
    assertThat(throttles()).isEmpty();
    answer(Map.of("h1", 1.0));
    world.advance(1_000);
    assertThat(throttles())
        .as("what was said to them before is not known")
        .hasSize(4)
        .allMatch(told -> told.endsWith(" 1"));
  }
}
