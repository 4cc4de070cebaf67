package io.espalier.core.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ShardTest {
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
                Shard.ownerOf(name, 1),
                Shard.ownerOf(name, 2),
                Shard.ownerOf(name, 3),
                Shard.ownerOf(name, 4),
                Shard.ownerOf(name, 10),
                Shard.ownerOf(name, 1000),
                Shard.ownerOf(name, Shard.MAX_COUNT)))
        .containsExactly(0, of2, of3, of4, of10, k, most);
  }

  @Test
  void an_unpaired_surrogate_counts_as_a_question_mark() {
    assertThat(Shard.ownerOf("x\ud800", 1000)).isEqualTo(Shard.ownerOf("x?", 1000));
  }

  @Test
  void one_more_scheduler_takes_its_share_from_all_and_nothing_else_moves() {
    int names = 100_000;
    for (int count : new int[] {1, 3, 10, 99}) {
      int moved = 0;
      int[] sizes = new int[count + 1];
      for (int i = 0; i < names; i++) {
        int before = Shard.ownerOf("host" + i, count);
        int after = Shard.ownerOf("host" + i, count + 1);
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
      moved += Shard.ownerOf("host" + i, 3) == Shard.ownerOf("host" + i, 4) ? 0 : 1;
    }
    assertThat(moved).isEqualTo(24_893);
  }

  @Test
  void each_name_has_exactly_one_owner() {
    List<Shard> shards = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      shards.add(new Shard(i, 5));
    }
    for (int i = 0; i < 1000; i++) {
      String name = "n" + i;
      assertThat(shards.stream().filter(s -> s.owns(name)).count()).isOne();
    }
    assertThat(shards.stream().filter(Shard::ownsInstance)).containsExactly(new Shard(0, 5));
    assertThat(Shard.WHOLE.owns("anything")).isTrue();
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
    assertThatThrownBy(() -> Shard.parse(text))
        .isInstanceOf(IllegalArgumentException.class)
        .message()
        .isNotBlank();
  }

  @Test
  void a_shard_is_written_as_it_is_read() {
    assertThat(Shard.parse("2/7")).isEqualTo(new Shard(2, 7)).hasToString("2/7");
    assertThat(Shard.parse("65535/65536").count()).isEqualTo(Shard.MAX_COUNT);
    assertThat(Shard.parse("0/1")).isEqualTo(Shard.WHOLE);
  }
}
