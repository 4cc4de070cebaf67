package io.espalier.worker.resources;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class KernelFilesTest {
  @TempDir
  @SuppressWarnings("NullAway.Init")
  Path root;

  private Path file(String content) {
    new FakeHost(root).put("file", content);
    return root.resolve("file");
  }

  @Test
  void r4_a_value_is_a_text_a_whole_number_or_a_number() throws IOException {
    assertThat(KernelFiles.text(file("  a text "))).isEqualTo("a text");
    assertThat(KernelFiles.wholeNumber(file("-37"))).isEqualTo(-37);
    assertThat(KernelFiles.number(file("0.25"))).isEqualTo(0.25);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "x", "1 2", "1.5", "99999999999999999999"})
  void r4_a_bad_whole_number_is_an_error_that_names_the_file(String content) {
    assertThatThrownBy(() -> KernelFiles.wholeNumber(file(content)))
        .isInstanceOf(IOException.class)
        .hasMessageContaining(root + "/file");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "x", "NaN", "1e999", "1 2"})
  void r4_a_bad_number_is_an_error_that_names_the_file(String content) {
    assertThatThrownBy(() -> KernelFiles.number(file(content)))
        .isInstanceOf(IOException.class)
        .hasMessageContaining(root + "/file");
  }

  @Test
  void r4_a_missing_file_and_an_endless_one_are_errors() {
    assertThatThrownBy(() -> KernelFiles.text(root.resolve("none")))
        .isInstanceOf(IOException.class);
    assertThatThrownBy(() -> KernelFiles.text(Path.of("/dev/zero")))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("larger than");
  }

  @Test
  void r4_sets_have_numbers_and_ranges_that_may_overlap() throws IOException {
    assertThat(KernelFiles.intSet("")).isEmpty();
    assertThat(KernelFiles.intSet("31")).containsExactly(31);
    assertThat(KernelFiles.intSet("0,2-4\n")).containsExactly(0, 2, 3, 4);
    assertThat(KernelFiles.intSet("2-5,4-6,5,1-1")).containsExactly(1, 2, 3, 4, 5, 6);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"4-2", "1;2", "1,,2", "1-", "-1", "1-2-3", "a", "1 2", "1,", "0-99999999"})
  void r4_reversed_ranges_and_other_separators_are_errors(String text) {
    assertThatThrownBy(() -> KernelFiles.intSet(text)).isInstanceOf(IOException.class);
  }

  @Test
  void r4_a_line_splits_into_exactly_so_many_values() throws IOException {
    assertThat(KernelFiles.split("a, b ,c", ",", 3)).containsExactly("a", "b", "c");
    assertThat(KernelFiles.split("", ",", 1)).containsExactly("");
    assertThatThrownBy(() -> KernelFiles.split("a,b", ",", 3))
        .hasMessage("expected 3 values, found 2: \"a,b\"");
    assertThatThrownBy(() -> KernelFiles.split("a,b,c,d", ",", 3)).isInstanceOf(IOException.class);
  }
}
