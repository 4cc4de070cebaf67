package io.espalier.core.loop.state;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.espalier.core.api.view.JobProgress;
import java.util.Iterator;
import java.util.Map;
import java.util.NoSuchElementException;
import org.junit.jupiter.api.Test;

class NameOrderedMapTest {
  private static JobProgress of(String job) {
    return JobProgress.of(job, 0, 0, 0, 0, 0, 1, 0, 0, 0);
  }

  private final Map<String, JobProgress> map =
      new NameOrderedMap<>(
          new String[] {"a", "b", "c"}, new JobProgress[] {of("a"), of("b"), of("c")});

  @Test
  void it_is_a_map_in_the_order_of_names() {
    assertThat(map)
        .hasSize(3)
        .containsEntry("b", of("b"))
        .doesNotContainKey("bb")
        .isEqualTo(Map.of("a", of("a"), "b", of("b"), "c", of("c")));
    assertThat(map.get("d")).isNull();
    assertThat(map.keySet()).containsExactly("a", "b", "c");
    assertThat(map.values()).containsExactly(of("a"), of("b"), of("c"));
  }

  @Test
  void nobody_can_change_it_and_it_ends() {
    assertThatThrownBy(() -> map.put("x", of("x")))
        .isInstanceOf(UnsupportedOperationException.class);
    assertThatThrownBy(() -> map.remove("a")).isInstanceOf(UnsupportedOperationException.class);
    Iterator<String> keys = map.keySet().iterator();
    keys.next();
    keys.next();
    keys.next();
    assertThatThrownBy(keys::next).isInstanceOf(NoSuchElementException.class);
  }
}
