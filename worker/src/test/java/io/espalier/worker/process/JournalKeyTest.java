package io.espalier.worker.process;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.running.Invocation;
import io.espalier.core.status.TaskKey;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Keys of tasks and of their attempts are equal when all their parts are. */
class JournalKeyTest {
  @Test
  void keysDifferInEachPart() {
    List<Object> keys = keys();
    List<Object> again = keys();
    for (int i = 0; i < keys.size(); i++) {
      for (int k = 0; k < keys.size(); k++) {
        assertThat(keys.get(i).equals(again.get(k))).as("%s, %s", i, k).isEqualTo(i == k);
      }
      assertThat(keys.get(i)).hasSameHashCodeAs(again.get(i)).isNotEqualTo(null);
    }
    assertThat(keys.stream().map(Object::hashCode).distinct()).hasSameSizeAs(keys);
  }

  private static List<Object> keys() {
    List<Object> keys = new ArrayList<>();
    for (int part = 0; part < 8; part++) {
      keys.add(new Invocation(part & 1, part & 2, part & 4));
    }
    for (Object invocation : List.copyOf(keys)) {
      for (String job : List.of("backup", "index")) {
        keys.add(new JournalKey(job, "db1", (Invocation) invocation));
        keys.add(new JournalKey(job, "db2", (Invocation) invocation));
      }
    }
    for (String job : List.of("backup", "index")) {
      keys.add(new TaskKey(job, "db1"));
      keys.add(new TaskKey(job, "db2"));
    }
    return keys;
  }
}
