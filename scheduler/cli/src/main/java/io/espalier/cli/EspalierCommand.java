package io.espalier.cli;

import io.espalier.cli.client.CommandContext;
import io.espalier.cli.client.Contexts;
import io.espalier.cli.flags.EnvironmentDefaults;
import io.espalier.cli.flags.MisspeltVariables;
import io.espalier.cli.term.HumanFormat;
import io.espalier.cli.term.TerminalViewport;
import io.espalier.server.CommandException;
import io.espalier.server.ExitCode;
import io.espalier.server.Version;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.Charset;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.IVersionProvider;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The command {@code espalier}: assembles the subcommands and maps failures to exit codes. */
@Command(
    name = "espalier",
    mixinStandardHelpOptions = true,
    versionProvider = EspalierCommand.VersionText.class,
    description = "A sharded task scheduler with resource trees.",
    footer = {
      "",
      "Every flag is also an environment variable: --data-dir is ESPALIER_DATA_DIR.",
      "Exit codes: 0 well; 1 the work failed or was refused; 2 wrong use, configuration or token;",
      "3 the scheduler cannot be reached; 130 interrupted.",
      "Help on a command: espalier COMMAND --help",
      "",
      "EXAMPLES",
      "  espalier run config-examples/quickstart.json",
      "  espalier jobs --watch",
      "  espalier explain backup db17"
    })
final class EspalierCommand implements Runnable {
  @Spec private CommandSpec spec = CommandSpec.create();

  /**
   * Runs a command line.
   *
   * @return its exit code
   */
  static int execute(String[] args, Map<String, String> environment) {
    CommandTable table = table(environment);
    String[] expanded = table.expanded(args);
    CommandLine line = line(environment, table, table.neededFor(expanded));
    MisspeltVariables.warnings(environment, line, () -> line(environment))
        .forEach(warning -> line.getErr().println("espalier: " + warning));
    for (String argument : args) {
      // Java puts it where the locale has no such character; what is named so is never meant.
      if (argument.indexOf('\uFFFD') >= 0) {
        line.getErr()
            .println(
                "espalier: an argument has letters that Java cannot read in this locale; set"
                    + " LC_ALL=C.UTF-8");
        return ExitCode.USAGE;
      }
    }
    int code = line.execute(expanded);
    return line.getOut().checkError() ? unwritten(line, code) : code;
  }

  /**
   * Says why the output could not be written, which only another attempt tells. That nobody reads
   * the rest of a pipe is no failure.
   */
  private static int unwritten(CommandLine line, int code) {
    try {
      new FileOutputStream(FileDescriptor.out).write('\n');
    } catch (IOException e) {
      if (!"Broken pipe".equals(e.getMessage())) {
        line.getErr().println("espalier: cannot write the output: " + e.getMessage());
        return ExitCode.FAILED;
      }
    }
    return code;
  }

  /** Creates the command line with all its commands. */
  static CommandLine line(Map<String, String> environment) {
    CommandTable table = table(environment);
    return line(environment, table, table.all());
  }

  static CommandTable table(Map<String, String> environment) {
    return new CommandTable(
        new CommandContext(
            new ClientOpener(), new TerminalViewport(environment), Contexts.file(environment)));
  }

  private static CommandLine line(
      Map<String, String> environment, CommandTable table, List<Object> commands) {
    CommandLine line = new CommandLine(new EspalierCommand());
    commands.forEach(line::addSubcommand);
    line.setDefaultValueProvider(new EnvironmentDefaults(environment));
    line.setExecutionExceptionHandler(EspalierCommand::failed);
    line.setParameterExceptionHandler(EspalierCommand::misused);
    line.setUsageHelpWidth(100);
    CommandGroups.use(line, table.groups());
    // The writer of picocli hides that the reader of a pipe is gone, so some commands would not
    // end.
    line.setOut(new PrintWriter(System.out, true, Charset.defaultCharset()));
    return line;
  }

  private static int failed(Exception failure, CommandLine line, CommandLine.ParseResult parsed) {
    if (failure instanceof CommandException known) {
      // It may be what a server said, which must not steer the terminal.
      String message = String.valueOf(known.getMessage());
      line.getErr()
          .println(
              "espalier: "
                  + message.lines().map(HumanFormat::clean).collect(Collectors.joining("\n")));
      return known.exitCode();
    }
    if (failure instanceof InterruptedException) {
      return 130;
    }
    line.getErr().println("espalier: internal error: " + failure);
    failure.printStackTrace(line.getErr());
    return ExitCode.FAILED;
  }

  private static int misused(ParameterException misuse, String[] args) {
    CommandLine line = misuse.getCommandLine();
    PrintWriter err = line.getErr();
    err.println("espalier: " + misuse.getMessage());
    String ours = FlagHints.hint(misuse, args);
    if (ours.isEmpty()) {
      CommandLine.UnmatchedArgumentException.printSuggestions(misuse, err);
    } else {
      err.println(ours);
    }
    err.println("Try '" + line.getCommandSpec().qualifiedName() + " --help'.");
    return ExitCode.USAGE;
  }

  @Override
  public void run() {
    throw new ParameterException(
        spec.commandLine(), "say which command; espalier --help lists them");
  }

  /** Provides the text of {@code --version}. */
  static final class VersionText implements IVersionProvider {
    @Override
    public String[] getVersion() {
      return new String[] {"espalier " + Version.get()};
    }
  }
}
