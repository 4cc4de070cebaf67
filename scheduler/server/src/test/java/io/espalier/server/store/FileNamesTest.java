package io.espalier.server.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Set;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class FileNamesTest {
  @ParameterizedTest
  @CsvSource({
    "backup, backup",
    "Back_Up-2.x, Back_Up-2.x",
    "a b, a%20b",
    ".., %2E.",
    "., %2E",
    ".hidden, %2Ehidden",
    "-rf, %2Drf",
    "../../etc/passwd, %2E.%2F..%2Fetc%2Fpasswd",
    "/abs, %2Fabs",
    "a\\b, a%5Cb",
    "100%, 100%25",
    "a~b, a%7Eb",
    "naïve, na%C3%AFve",
    "😀, %F0%9F%98%80",
  })
  void names_become_one_plain_file_name(String name, String file) {
    assertThat(FileNames.encode(name)).isEqualTo(file);
  }

  @Test
  void control_characters_are_encoded() {
    assertThat(FileNames.encode("a\0b\nc")).isEqualTo("a%00b%0Ac");
  }

  @Test
  void an_empty_name_is_refused() {
    assertThatThrownBy(() -> FileNames.encode("")).isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void long_names_are_cut_and_stay_different() {
    String common = "x".repeat(300);
    String one = FileNames.encode(common + "1");
    String two = FileNames.encode(common + "2");
    assertThat(one).hasSize(200).isNotEqualTo(two).contains("~");
    assertThat(FileNames.encode("x".repeat(200))).isEqualTo("x".repeat(200));
    assertThat(FileNames.encode("é".repeat(34))).hasSize(200);
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4})
  void any_name_stays_inside_its_directory_and_is_like_no_other(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    Path jobs = Path.of("/data/jobs");
    Set<String> names = new HashSet<>();
    Set<String> files = new HashSet<>();
    String alphabet = "ab./\\%~-_ \0\n:é😀A";
    while (names.size() < 2_000) {
      StringBuilder name = new StringBuilder();
      for (int i = 1 + random.nextInt(random.nextInt(20) == 0 ? 300 : 6); i > 0; i--) {
        int at = random.nextInt(alphabet.length() - 2);
        name.appendCodePoint(alphabet.codePointAt(at > 14 ? 14 : at));
      }
      if (!names.add(name.toString())) {
        continue;
      }
      String file = FileNames.encode(name.toString());
      assertThat(files.add(file)).as("%s is new", file).isTrue();
      assertThat(file.getBytes(StandardCharsets.UTF_8)).hasSizeBetween(1, 200);
      Path inside = jobs.resolve(file);
      assertThat(inside.normalize()).isEqualTo(inside);
      assertThat(inside.getParent()).isEqualTo(jobs);
    }
  }
}
