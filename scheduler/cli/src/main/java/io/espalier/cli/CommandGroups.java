package io.espalier.cli;

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
  private CommandGroups() {}

  /** Groups the commands in the help of a command line that has all of them. */
  static void use(CommandLine line, Map<String, List<String>> groups) {
    line.getHelpSectionMap()
        .put(UsageMessageSpec.SECTION_KEY_COMMAND_LIST, help -> list(help, groups));
    line.getHelpSectionMap().put(UsageMessageSpec.SECTION_KEY_COMMAND_LIST_HEADING, help -> "");
  }

  private static String list(Help help, Map<String, List<String>> groups) {
    Map<String, Help> commands = help.subcommands();
    int widest = commands.keySet().stream().mapToInt(String::length).max().orElse(0);
    int width = help.commandSpec().usageMessage().width();
    StringBuilder text = new StringBuilder();
    groups.forEach(
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
