package io.espalier.worker.call;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RequestLanesTest {
  private final RequestLanes<String> lanes = new RequestLanes<>(2, 5);

  private List<String> sendAll() {
    List<String> sent = new ArrayList<>();
    for (String next = lanes.next(); next != null; next = lanes.next()) {
      lanes.sent(next.substring(0, 1));
      sent.add(next);
    }
    return sent;
  }

  @Test
  void servicesTakeTurnsAndEachHasItsOwnBound() {
    for (int i = 0; i < 4; i++) {
      lanes.add("a", "a" + i);
    }
    lanes.add("b", "b0");
    lanes.add("c", "c0");
    assertThat(sendAll()).containsExactly("a0", "b0", "c0", "a1");
    assertThat(lanes.hasRoom("a")).isFalse();
    assertThat(lanes.hasRoom("b")).isTrue();
    lanes.answered("a");
    assertThat(sendAll()).containsExactly("a2");
  }

  @Test
  void allTogetherHaveABound() {
    for (String service : List.of("a", "b", "c", "d")) {
      lanes.add(service, service + 0);
      lanes.add(service, service + 1);
    }
    assertThat(sendAll()).containsExactly("a0", "b0", "c0", "d0", "a1");
    assertThat(lanes.hasRoom("e")).isFalse();
    lanes.answered("d");
    assertThat(sendAll()).containsExactly("b1");
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5})
  void noBoundIsExceededAndNothingWaitsThatMayBeSent(long seed) {
    Random random = new Random(seed);
    Map<String, Integer> unanswered = new HashMap<>();
    Map<String, Integer> waiting = new HashMap<>();
    for (int step = 0; step < 10_000; step++) {
      String service = String.valueOf((char) ('a' + random.nextInt(6)));
      if (random.nextBoolean()) {
        lanes.add(service, service);
        waiting.merge(service, 1, Integer::sum);
      } else if (unanswered.getOrDefault(service, 0) > 0) {
        lanes.answered(service);
        unanswered.merge(service, -1, Integer::sum);
      }
      for (String sent : sendAll()) {
        unanswered.merge(sent, 1, Integer::sum);
        waiting.merge(sent, -1, Integer::sum);
      }
      int all = unanswered.values().stream().mapToInt(Integer::intValue).sum();
      assertThat(all).isLessThanOrEqualTo(5);
      assertThat(unanswered.values()).allMatch(count -> count <= 2);
      waiting.forEach(
          (name, count) ->
              assertThat(count == 0 || all == 5 || unanswered.getOrDefault(name, 0) == 2)
                  .as("%s waits", name)
                  .isTrue());
    }
  }
}
