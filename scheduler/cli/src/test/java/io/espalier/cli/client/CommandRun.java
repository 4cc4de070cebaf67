package io.espalier.cli.client;

import io.espalier.cli.CommandTable;
import io.espalier.cli.flags.EnvironmentDefaults;
import io.espalier.cli.term.TerminalInfo;
import io.espalier.core.json.Json;
import io.espalier.json.JsonReader;
import io.espalier.server.CommandException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.Map;
import java.util.Objects;
import picocli.CommandLine;
import picocli.CommandLine.Command;

/**
 * One run of a client command as the command line makes it.
 *
 * @param code the exit code
 */
public record CommandRun(int code, String out, String err) {

  private static final Path NO_CONTEXTS = Path.of("/no/contexts.json");

  @Command(name = "espalier")
  private static final class Root {}

  /** Talks to servers only. */
  public static CommandRun of(int width, String... arguments) {
    return of(new Servers(), width, arguments);
  }

  public static CommandRun of(Client.Opener opener, int width, String... arguments) {
    return of(new CommandContext(opener, width, NO_CONTEXTS), Map.of(), arguments);
  }

  /** Talks to servers only, on a terminal or what stands for one. */
  static CommandRun of(TerminalInfo viewport, String... arguments) {
    return of(new CommandContext(new Servers(), viewport, NO_CONTEXTS), Map.of(), arguments);
  }

  /**
   * @param environment from which flags take defaults
   */
  static CommandRun of(
      CommandContext clients, Map<String, String> environment, String... arguments) {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    CommandLine line = new CommandLine(new Root());
    CommandTable table = new CommandTable(clients);
    String[] expanded = table.expanded(arguments);
    table.neededFor(expanded).forEach(line::addSubcommand);
    line.setDefaultValueProvider(new EnvironmentDefaults(environment));
    line.setOut(new PrintWriter(out)).setErr(new PrintWriter(err));
    line.setExecutionExceptionHandler(
        (failure, command, parsed) -> {
          if (failure instanceof CommandException known) {
            command.getErr().println(known.getMessage());
            command.getErr().flush();
            return known.exitCode();
          }
          throw failure;
        });
    int code = line.execute(expanded);
    return new CommandRun(code, out.toString(), err.toString());
  }

  Json.Obj json() {
    return (Json.Obj) Objects.requireNonNull(JsonReader.parse(out).value(), out);
  }

  private static final class Servers implements Client.Opener {
    @Override
    public Client server(String server) {
      return new HttpSchedulerClient(server);
    }

    @Override
    public Client dataDirectory(Path dataDir) {
      throw new IllegalStateException("no data directory was meant");
    }
  }
}
