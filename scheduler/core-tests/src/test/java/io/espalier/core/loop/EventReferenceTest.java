package io.espalier.core.loop;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.event.EventKind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/**
 * The table of kinds in docs/events.md is made from {@link EventKind}, the table of members is
 * written by hand and names all of them. Run with {@code -Devents.reference=write} to write the
 * former. {@link LoopWorld} holds every event of every test against the same list.
 */
class EventReferenceTest {
  private static final Path PAGE = Path.of("../../docs/events.md");
  private static final String MARK = "<!-- kinds of events, generated -->\n\n";
  private static final Pattern MEMBER = Pattern.compile("\\| `(\\w+)` \\|.*");

  @Test
  void theKindsAreThoseOfTheCode() throws IOException {
    String page = page();
    int begin = page.indexOf(MARK) + MARK.length();
    int end = page.indexOf("## Members", begin);
    String generated = page.substring(0, begin) + kinds() + "\n" + page.substring(end);
    if ("write".equals(System.getProperty("events.reference"))) {
      Files.writeString(PAGE, generated);
    }
    assertThat(page()).as("-Devents.reference=write writes them again").isEqualTo(generated);
  }

  @Test
  void allMembersAreDescribedAndNoOthers() throws IOException {
    String page = page();
    List<String> described = new ArrayList<>();
    for (String line : page.substring(page.indexOf("\n## Members")).lines().toList()) {
      Matcher member = MEMBER.matcher(line);
      if (member.matches()) {
        described.add(member.group(1));
      }
    }
    TreeSet<String> all = new TreeSet<>();
    Arrays.stream(EventKind.values()).forEach(kind -> all.addAll(kind.members()));
    assertThat(described).containsExactlyElementsOf(all);
  }

  private static String page() throws IOException {
    return Files.readString(PAGE).replace("\r\n", "\n");
  }

  private static String kinds() {
    StringBuilder table = new StringBuilder("| kind | when | members |\n|---|---|---|\n");
    for (EventKind kind : EventKind.values()) {
      String members =
          kind.members().stream().map(m -> "`" + m + "`").collect(Collectors.joining(", "));
      table.append("| `%s` | %s | %s |\n".formatted(kind.word(), kind.summary(), members));
    }
    return table.toString();
  }
}
