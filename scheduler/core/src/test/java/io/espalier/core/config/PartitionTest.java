package io.espalier.core.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class PartitionTest {
  /** The table of docs/sharding.md; computed by another program. */
  @ParameterizedTest
  @CsvSource({
    "a,       1, 1, 1, 9, 572, 46869",
    "host1,   1, 1, 1, 5, 352, 41725",
    "host2,   0, 0, 0, 0, 521, 38575",
    "db-042,  0, 0, 0, 8, 338, 37028",
    "grün,    1, 2, 3, 3, 751, 7512",
    "雪,      0, 2, 3, 9, 313, 11394",
    "😀,      0, 0, 0, 4, 121, 53793",
  })
  void the_published_vectors(String name, int of2, int of3, int of4, int of10, int k, int most) {
    assertThat(
            List.of(
                Partition.ownerOf(name, 1),
                Partition.ownerOf(name, 2),
                Partition.ownerOf(name, 3),
                Partition.ownerOf(name, 4),
                Partition.ownerOf(name, 10),
                Partition.ownerOf(name, 1000),
                Partition.ownerOf(name, Partition.MAX_COUNT)))
        .containsExactly(0, of2, of3, of4, of10, k, most);
  }

  @Test
  void an_unpaired_surrogate_counts_as_a_question_mark() {
    assertThat(Partition.ownerOf("x\ud800", 1000)).isEqualTo(Partition.ownerOf("x?", 1000));
  }

  @Test
  void one_more_scheduler_takes_its_share_from_all_and_nothing_else_moves() {
    int names = 100_000;
    for (int count : new int[] {1, 3, 10, 99}) {
      int moved = 0;
      int[] sizes = new int[count + 1];
      for (int i = 0; i < names; i++) {
        int before = Partition.ownerOf("host" + i, count);
        int after = Partition.ownerOf("host" + i, count + 1);
        sizes[after]++;
        if (before != after) {
          moved++;
          assertThat(after).isEqualTo(count);
        }
      }
      double fair = names / (count + 1.0);
      assertThat((double) moved).isBetween(0.9 * fair, 1.1 * fair);
      for (int size : sizes) {
        assertThat((double) size).isBetween(0.85 * fair, 1.15 * fair);
      }
    }
  }

  @Test
  void from_three_to_four_schedulers_a_quarter_moves() {
    int moved = 0;
    for (int i = 0; i < 100_000; i++) {
      moved += Partition.ownerOf("host" + i, 3) == Partition.ownerOf("host" + i, 4) ? 0 : 1;
    }
    assertThat(moved).isEqualTo(24_893);
  }

  @Test
  void each_name_has_exactly_one_owner() {
    List<Partition> shards = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      shards.add(new Partition(i, 5));
    }
    for (int i = 0; i < 1000; i++) {
      String name = "n" + i;
      assertThat(shards.stream().filter(s -> s.owns(name)).count()).isOne();
    }
    assertThat(shards.stream().filter(Partition::ownsInstance))
        .containsExactly(new Partition(0, 5));
    assertThat(Partition.WHOLE.owns("anything")).isTrue();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "/",
        "1",
        "1/",
        "/3",
        "a/3",
        "1/b",
        "-1/3",
        "3/3",
        "4/3",
        "0/0",
        "1/1",
        "0/65537",
        " 0/3",
        "0/ 3",
        "0/3/4",
        "٠/3",
        "0/4294967297",
        "+0/3",
        "0x0/3"
      })
  void what_is_no_shard_is_refused(String text) {
    assertThatThrownBy(() -> Partition.parse(text))
        .isInstanceOf(IllegalArgumentException.class)
        .message()
        .isNotBlank();
  }

  @Test
  void a_shard_is_written_as_it_is_read() {
    assertThat(Partition.parse("2/7")).isEqualTo(new Partition(2, 7)).hasToString("2/7");
    assertThat(Partition.parse("65535/65536").count()).isEqualTo(Partition.MAX_COUNT);
    assertThat(Partition.parse("0/1")).isEqualTo(Partition.WHOLE);
  }
}
