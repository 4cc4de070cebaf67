package io.espalier.policies;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

final class JobHeapTest {
  @Test
  void theOrderIsThatOfAStableSort() {
    Random random = new Random(3);
    for (int size : new int[] {0, 1, 2, 3, 10, 257}) {
      int[] jobs = random.ints(size, 0, 1_000).toArray();
      double[] keys = random.doubles(1_000, 0, 5).map(Math::floor).toArray();
      List<Integer> sorted =
          Arrays.stream(jobs).boxed().sorted(Comparator.comparingDouble(job -> keys[job])).toList();
      JobHeap heap = new JobHeap(jobs, job -> keys[job]);
      List<Integer> taken = new ArrayList<>();
      while (!heap.isEmpty()) {
        taken.add(heap.poll());
      }
      assertThat(taken).isEqualTo(sorted);
    }
  }

  @Test
  void aKeyIsAskedForOnceWhateverIsTaken() {
    int[] asked = {0};
    JobHeap heap =
        new JobHeap(
            new int[10_000],
            job -> {
              asked[0]++;
              return job;
            });
    heap.poll();
    assertThat(asked[0]).isEqualTo(10_000);
  }
}
