package io.espalier.worker.process.os;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class FileNamesTest {
  @Test
  void harmlessNamesStayReadable() {
    assertThat(FileNames.encode("compact-v1.2_all")).isEqualTo("compact-v1.2_all");
  }

  @Test
  void nothingLeadsOutOfTheDirectory() {
    assertThat(FileNames.encode("..")).isEqualTo("%2E.");
    assertThat(FileNames.encode(".")).isEqualTo("%2E");
    assertThat(FileNames.encode("/etc/passwd")).isEqualTo("%2Fetc%2Fpasswd");
    assertThat(FileNames.encode("")).isEqualTo("%");
    assertThat(FileNames.encode("a b\u0000\u00fc")).isEqualTo("a%20b%00%C3%BC");
  }

  @Test
  void longNamesAreCutAndStayDifferent() {
    String one = FileNames.encode("/".repeat(300) + "1");
    String two = FileNames.encode("/".repeat(300) + "2");
    assertThat(one).hasSizeLessThanOrEqualTo(200).isNotEqualTo(two);
    assertThat(FileNames.encode("x".repeat(200))).hasSize(200).doesNotContain("~");
    assertThat(FileNames.encode("x".repeat(201))).contains("~");
  }

  @Test
  void differentNamesGiveDifferentFiles() {
    List<String> names = List.of("a", "A", "%41", "a%", "%", "", ".a", "%2Ea", "a~", "..", "%2E.");
    Set<String> files = new HashSet<>();
    names.forEach(name -> files.add(FileNames.encode(name)));
    assertThat(files).hasSameSizeAs(names);
  }
}
