package io.espalier.cli;

import java.util.Arrays;
import java.util.Map;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.UsageMessageSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * A group of commands on one subject: {@code job}, {@code task}, {@code node}. Most of them are
 * commands that also have a name of their own; it is the same class under both names.
 */
@Command(mixinStandardHelpOptions = true)
final class NounCommand implements Runnable {
  @Spec private CommandSpec spec = CommandSpec.create();

  private NounCommand() {}

  /**
   * Creates a group.
   *
   * @param verbs commands by their names within the group
   */
  static CommandLine of(
      String noun, String description, Map<String, Object> verbs, String... examples) {
    CommandLine group = new CommandLine(new NounCommand());
    group.setCommandName(noun);
    UsageMessageSpec usage = group.getCommandSpec().usageMessage();
    usage.description(description);
    usage.footerHeading("%nEXAMPLES%n").footer(examples);
    verbs.forEach((verb, command) -> group.addSubcommand(verb, named(noun, verb, command)));
    return group;
  }

  /** Renames a command; its examples show the new name. */
  private static CommandLine named(String noun, String verb, Object command) {
    CommandLine line = new CommandLine(command);
    CommandSpec spec = line.getCommandSpec();
    String before = "  espalier " + spec.name();
    String after = "  espalier " + noun + " " + verb;
    spec.usageMessage()
        .footer(
            Arrays.stream(spec.usageMessage().footer())
                .map(
                    example ->
                        example.equals(before) || example.startsWith(before + " ")
                            ? after + example.substring(before.length())
                            : example)
                .toArray(String[]::new));
    line.setCommandName(verb);
    return line;
  }

  @Override
  public void run() {
    throw new ParameterException(
        spec.commandLine(), "say which command; " + spec.qualifiedName() + " --help lists them");
  }
}
