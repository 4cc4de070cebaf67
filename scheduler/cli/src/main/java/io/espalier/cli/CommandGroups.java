package io.espalier.cli;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine;
import picocli.CommandLine.Help;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.Help.Column;
import picocli.CommandLine.Help.TextTable;
import picocli.CommandLine.Model.UsageMessageSpec;

/** The list of commands in {@code espalier --help}, grouped by purpose. */
final class CommandGroups {
  private static final String OTHERS = "Further";

  private static final Map<String, List<String>> GROUPS = groups();

  private CommandGroups() {}

  private static Map<String, List<String>> groups() {
    Map<String, List<String>> groups = new LinkedHashMap<>();
    groups.put(
        "Run",
        List.of(
            "run",
            "scheduler",
            "worker",
            "ui",
            "validate",
            "nodes",
            "ha-check",
            "bench",
            "replay"));
    groups.put(
        "Look",
        List.of(
            "top",
            "jobs",
            "tasks",
            "running",
            "explain",
            "waiting",
            "failures",
            "levels",
            "tree",
            "node",
            "logs",
            "events",
            "problems",
            "queues",
            "settings"));
    groups.put(
        "Steer",
        List.of(
            "pause",
            "resume",
            "stop",
            "kill",
            "extend",
            "forgive",
            "rerun",
            "limits",
            "set-limit",
            "clear-limit"));
    groups.put("Workers", List.of("workers", "drain", "cordon", "uncordon"));
    groups.put("Jobs", List.of("validate-job", "save-job", "delete-job", "job-history"));
    groups.put("People and leaders", List.of("audit", "whoami", "leadership", "step-down"));
    return groups;
  }

  static void use(CommandLine line) {
    line.getHelpSectionMap().put(UsageMessageSpec.SECTION_KEY_COMMAND_LIST, CommandGroups::list);
    line.getHelpSectionMap().put(UsageMessageSpec.SECTION_KEY_COMMAND_LIST_HEADING, help -> "");
  }

  /** Returns the names of all commands by group, in the order of the help. */
  static Map<String, List<String>> of(Map<String, ?> commands) {
    Map<String, List<String>> found = new LinkedHashMap<>();
    List<String> rest = new ArrayList<>(commands.keySet());
    GROUPS.forEach(
        (title, names) -> {
          List<String> there = names.stream().filter(rest::remove).toList();
          if (!there.isEmpty()) {
            found.put(title, there);
          }
        });
    if (!rest.isEmpty()) {
      found.put(OTHERS, rest);
    }
    return found;
  }

  private static String list(Help help) {
    Map<String, Help> commands = help.subcommands();
    int widest = commands.keySet().stream().mapToInt(String::length).max().orElse(0);
    int width = help.commandSpec().usageMessage().width();
    StringBuilder text = new StringBuilder();
    of(commands)
        .forEach(
            (title, names) -> {
              TextTable table =
                  TextTable.forColumns(
                      help.colorScheme(),
                      new Column(widest + 4, 2, Column.Overflow.SPAN),
                      new Column(width - widest - 4, 2, Column.Overflow.WRAP));
              table.setAdjustLineBreaksForWideCJKCharacters(true);
              for (String name : names) {
                Help command = commands.get(name);
                String[] description =
                    command == null
                        ? new String[0]
                        : command.commandSpec().usageMessage().description();
                table.addRowValues(
                    help.colorScheme().commandText(name),
                    Ansi.OFF.new Text(description.length == 0 ? "" : firstSentence(description)));
              }
              text.append(String.format("%n%s:%n%s", title, table));
            });
    return text.toString();
  }

  /** Returns the text up to the first full stop or colon that ends a part. */
  private static String firstSentence(String[] description) {
    String whole = String.join(" ", description);
    int end = whole.indexOf(". ");
    return end < 0 ? whole : whole.substring(0, end + 1);
  }
}
