package io.espalier.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import picocli.CommandLine;

/**
 * The help of every command, and docs/cli.md, which is made of it. After a change of a command run
 * this test with {@code -Dcli.reference=write}: it then writes the page.
 */
class HelpTest {
  private static final Pattern WORD = Pattern.compile("'([^']*)'|(\\S+)");

  /** Reading the annotations of all commands takes a second: it is done once. */
  private static final CommandLine LINE = EspalierCommand.line(Map.of());

  private static CommandLine line() {
    return LINE;
  }

  static Stream<String> commands() {
    List<String> all = new ArrayList<>();
    line()
        .getSubcommands()
        .forEach(
            (name, command) -> {
              all.add(name);
              command.getSubcommands().keySet().forEach(verb -> all.add(name + " " + verb));
            });
    return all.stream();
  }

  private static String help(CommandLine command) {
    return command.getUsageMessage(CommandLine.Help.Ansi.OFF).replace("\r\n", "\n");
  }

  @Test
  void aCommandLineHasOnlyTheCommandThatItNames() {
    CommandTable table = EspalierCommand.table(Map.of());
    for (List<String> names : table.groups().values()) {
      for (String name : names) {
        CommandLine line = new CommandLine(new EspalierCommand());
        table.neededFor(name, "--help").forEach(line::addSubcommand);
        if (name.equals("completion")) {
          assertThat(line.getSubcommands()).hasSizeGreaterThan(40);
        } else {
          assertThat(line.getSubcommands().keySet()).containsExactly(name);
        }
        CommandLine whole = command(name);
        for (String verb : whole.getSubcommands().keySet()) {
          CommandLine part = new CommandLine(new EspalierCommand());
          table.neededFor(name, verb, "--help").forEach(part::addSubcommand);
          if (!name.equals("bench") && !name.equals("notify")) {
            assertThat(command(part, name).getSubcommands().keySet()).containsExactly(verb);
          }
        }
      }
    }
    assertThat(table.neededFor("--version")).isEmpty();
    int all = line().getSubcommands().size();
    assertThat(table.neededFor()).hasSize(all);
    assertThat(table.neededFor("--help")).hasSize(all);
    assertThat(table.neededFor("jbos")).hasSize(all);
    assertThat(table.groups().values().stream().mapToInt(List::size).sum()).isEqualTo(all);
  }

  @Test
  void aGroupAndAnOtherNameLeadToTheSameCommand() {
    NounTable nouns = EspalierCommand.table(Map.of()).nouns();
    CommandLine line = line();
    for (String noun : nouns.names()) {
      command(line, noun)
          .getSubcommands()
          .forEach(
              (verb, command) -> {
                String alias = nouns.alias(noun, verb);
                if (!alias.isEmpty()) {
                  assertThat(command.getCommandSpec().userObject())
                      .hasSameClassAs(command(line, alias).getCommandSpec().userObject());
                }
              });
    }
  }

  @Test
  void whatWasACommandBeforeItWasAGroupStillIsOne() {
    CommandTable table = EspalierCommand.table(Map.of());
    assertThat(table.expanded("node", "host", "db7"))
        .containsExactly("node", "show", "host", "db7");
    assertThat(table.expanded("worker")).containsExactly("worker", "run");
    assertThat(table.expanded("worker", "--shard-id", "w1"))
        .containsExactly("worker", "run", "--shard-id", "w1");
    assertThat(table.expanded("worker", "list")).containsExactly("worker", "list");
    assertThat(table.expanded("node", "--help")).containsExactly("node", "--help");
    assertThat(table.expanded("jobs")).containsExactly("jobs");
    assertThat(table.expanded()).isEmpty();
  }

  @Test
  void flagsOfBistroAreTranslated() {
    assertThat(
            FlagHints.ofBistro(List.of("--config_file=a.json", "-noclean_statuses", "--x")).lines())
        .containsExactly(
            "In place of Bistro's --config_file there is here: --config FILE",
            "In place of Bistro's -noclean_statuses there is here: --status-store memory");
    assertThat(FlagHints.ofBistro(List.of("config_file", "--config"))).isEmpty();
  }

  @Test
  void aConfigurationWithoutItsFlagIsRecognized() {
    StringWriter said = new StringWriter();
    assertThat(line().setErr(new PrintWriter(said)).execute("scheduler", "my.json")).isEqualTo(2);
    assertThat(said.toString()).contains("--config", "Did you mean: --config my.json?");
  }

  @ParameterizedTest
  @CsvSource({
    "jobs --url http://h:1,                   Did you mean: --server URL?",
    "explain --host=h:1 backup db7,           Did you mean: --server URL?",
    "pause backup --scheduler h:1,            Did you mean: --server URL?",
    "pause backup --message busy,             Did you mean: --reason TEXT?",
    "jobs --format json,                      Did you mean: --output FORMAT?",
    "pause backup --output json,              Did you mean: --json?",
    "pause backup --format json,              Did you mean: --json?",
    "rerun backup db7 db8,                    Did you mean: --node db7 --node db8?",
    "logs backup --node db7,                  Did you mean: espalier logs JOB NODE?",
    "tasks --node=db7 backup,                 Did you mean: espalier tasks JOB NODE?",
    "extend backup --node db7 1h,             Did you mean: espalier extend JOB NODE SPAN?",
    "tree --node rack7,                       Did you mean: espalier tree NODE?",
    "history backup db7,                      Did you mean: --node db7?",
    "worker run --url h:1,                    Try 'espalier worker run --help'.",
  })
  void aFlagThatOtherProgramsHaveHasAHint(String arguments, String hint) {
    StringWriter said = new StringWriter();
    String[] args = arguments.split(" ", -1);
    assertThat(line().setErr(new PrintWriter(said)).execute(args)).isEqualTo(2);
    assertThat(said.toString().lines()).contains(hint);
  }

  private static CommandLine command(String name) {
    return command(line(), name);
  }

  /** Returns a command, or one of a group: {@code job show}. */
  private static CommandLine command(CommandLine line, String name) {
    CommandLine found = line;
    for (String part : List.of(name.split(" ", -1))) {
      found = Objects.requireNonNull(found.getSubcommands().get(part), name);
    }
    return found;
  }

  private static List<String> examples(String help) {
    int at = help.indexOf("\nEXAMPLES\n");
    return at < 0
        ? List.of()
        : help.substring(at + 10).lines().takeWhile(l -> !l.isBlank()).toList();
  }

  @ParameterizedTest
  @MethodSource("commands")
  void everyCommandHasExamplesThatParse(String name) {
    List<String> examples = examples(help(command(name)));
    assertThat(examples).isNotEmpty();
    assertThat(examples).anyMatch(example -> example.startsWith("  espalier " + name));
    for (String example : examples) {
      assertThat(example).startsWith("  espalier ");
      for (String part : example.split("&&|[|>#]", -1)) {
        List<String> words = words(part);
        if (words.size() > 1 && words.get(0).equals("espalier")) {
          assertThatCode(
                  () ->
                      line()
                          .parseArgs(
                              EspalierCommand.table(Map.of())
                                  .expanded(words.subList(1, words.size()).toArray(String[]::new))))
              .as(part)
              .doesNotThrowAnyException();
        }
      }
    }
  }

  private static List<String> words(String text) {
    List<String> words = new ArrayList<>();
    Matcher word = WORD.matcher(text);
    while (word.find()) {
      words.add(word.group(1) == null ? word.group(2) : word.group(1));
    }
    return words;
  }

  @ParameterizedTest
  @MethodSource("commands")
  void helpIsNoWiderThanAHundredColumnsAndDescribesEverything(String name) {
    CommandLine command = command(name);
    // Examples may be longer: they are to be copied.
    String help = help(command);
    int examples = help.indexOf("\nEXAMPLES\n");
    assertThat(help.substring(0, Math.max(0, examples)).lines())
        .allMatch(line -> line.length() <= 100);
    command
        .getCommandSpec()
        .args()
        .forEach(
            argument -> assertThat(argument.description()).as(argument.toString()).isNotEmpty());
  }

  @Test
  void theHelpOfAllListsEveryCommandOnce() {
    String help = help(line());
    for (String name : line().getSubcommands().keySet()) {
      assertThat(help.lines().filter(line -> line.startsWith("  " + name + "  ")))
          .as(name)
          .hasSize(1);
    }
  }

  @Test
  void theReferenceIsWhatTheCommandsSay() throws IOException {
    Path page = root().resolve("docs/cli.md");
    if ("write".equals(System.getProperty("cli.reference"))) {
      Files.writeString(page, reference());
    }
    assertThat(Files.readString(page).replace("\r\n", "\n"))
        .as("docs/cli.md; -Dcli.reference=write writes it again")
        .isEqualTo(reference());
  }

  private static Path root() {
    Path directory = Path.of("").toAbsolutePath();
    while (!Files.exists(directory.resolve("docs/config-reference.md"))) {
      directory = Objects.requireNonNull(directory.getParent(), "no checkout");
    }
    return directory;
  }

  private static String reference() {
    CommandLine line = line();
    StringBuilder page =
        new StringBuilder(
            """
            # Commands

            Made from what the commands say with `--help`. What prints a table prints the body of the REST resource with
            `--json`; every flag is also an environment variable: `--server` is `ESPALIER_SERVER`.

            Exit codes: 0 well; 1 the work failed, or was refused; 2 wrong use, configuration or token; 3 the scheduler cannot
            be reached; 130 interrupted.

            """);
    Map<String, List<String>> groups = EspalierCommand.table(Map.of()).groups();
    page.append("| for | commands |\n|---|---|\n");
    groups.forEach(
        (title, names) ->
            page.append("| ")
                .append(title)
                .append(" | ")
                .append(
                    String.join(
                        ", ", names.stream().map(n -> "[" + n + "](#espalier-" + n + ")").toList()))
                .append(" |\n"));
    NounTable nouns = EspalierCommand.table(Map.of()).nouns();
    groups.values().forEach(names -> names.forEach(name -> section(page, "##", name, line, nouns)));
    return page.toString();
  }

  private static void section(
      StringBuilder page, String mark, String name, CommandLine line, NounTable nouns) {
    CommandLine command = command(line, name);
    page.append('\n').append(mark).append(" espalier ").append(name).append("\n\n```text\n");
    help(command).lines().forEach(l -> page.append(l.stripTrailing()).append('\n'));
    page.append("```\n");
    if (!nouns.names().contains(name)) {
      return;
    }
    page.append("\n| `espalier ").append(name).append("` | the same as |\n|---|---|\n");
    List<String> own = new ArrayList<>();
    for (String verb : command.getSubcommands().keySet()) {
      String alias = nouns.alias(name, verb);
      String target = alias.isEmpty() ? name + "-" + verb : alias;
      page.append("| `")
          .append(verb)
          .append("` | [")
          .append(alias.isEmpty() ? name + " " + verb : alias)
          .append("](#espalier-")
          .append(target)
          .append(") |\n");
      if (alias.isEmpty()) {
        own.add(name + " " + verb);
      }
    }
    own.forEach(verb -> section(page, "###", verb, line, nouns));
  }
}
