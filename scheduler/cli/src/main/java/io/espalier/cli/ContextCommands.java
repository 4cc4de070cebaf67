package io.espalier.cli;

import io.espalier.cli.client.Contexts;
import io.espalier.cli.client.Target;
import io.espalier.cli.client.TargetFlags;
import io.espalier.cli.term.HumanFormat;
import io.espalier.cli.term.Table;
import io.espalier.core.json.JsonWriter;
import io.espalier.server.CommandException;
import io.espalier.server.ExitCode;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code espalier context}: named schedulers with the files that open them. */
final class ContextCommands {
  private ContextCommands() {}

  /** The common part. */
  abstract static class OnContexts implements Callable<Integer> {
    private final Path file;

    @Spec private CommandSpec spec = CommandSpec.create();

    /**
     * @param file the file with the contexts
     */
    OnContexts(Path file) {
      this.file = file;
    }

    @Override
    public final Integer call() {
      Contexts before = Contexts.read(file);
      Contexts after = run(before);
      if (!after.equals(before)) {
        after.write(file);
      }
      spec.commandLine().getOut().flush();
      return ExitCode.OK;
    }

    /** Runs the command and returns the contexts as they are from now on. */
    abstract Contexts run(Contexts contexts);

    CommandSpec spec() {
      return spec;
    }

    void say(String line) {
      spec.commandLine().getOut().println(HumanFormat.clean(line));
    }
  }

  /** {@code context list}. */
  @Command(
      name = "list",
      mixinStandardHelpOptions = true,
      description = "List the contexts; the current one has a star.",
      footerHeading = "%nEXAMPLES%n",
      footer = {"  espalier context list", "  espalier context list --json"})
  static final class List extends OnContexts {
    @Option(names = "--json", description = "Print the file.")
    private boolean json;

    List(Path file) {
      super(file);
    }

    @Override
    Contexts run(Contexts contexts) {
      PrintWriter out = spec().commandLine().getOut();
      if (json) {
        out.println(JsonWriter.compact(contexts.json()));
      } else if (contexts.byName().isEmpty()) {
        spec().commandLine().getErr().println("there are no contexts: espalier context add");
      } else {
        Table table = new Table("", "NAME", "SCHEDULER", "TOKEN", "CERTIFICATE");
        contexts
            .byName()
            .forEach(
                (name, target) ->
                    table.row(
                        name.equals(contexts.current()) ? "*" : "",
                        name,
                        target.address(),
                        shown(target.tokenFile()),
                        shown(target.tlsCert())));
        table.lines(0, false).forEach(out::println);
      }
      return contexts;
    }

    private static String shown(@Nullable Path path) {
      return path == null ? "" : path.toString();
    }
  }

  /** {@code context use}. */
  @Command(
      name = "use",
      mixinStandardHelpOptions = true,
      description = "Use a context in commands that name no scheduler.",
      footerHeading = "%nEXAMPLES%n",
      footer = "  espalier context use prod")
  static final class Use extends OnContexts {
    @Parameters(paramLabel = "NAME", description = "The name of the context.")
    private String name = "";

    Use(Path file) {
      super(file);
    }

    @Override
    Contexts run(Contexts contexts) {
      Contexts after = contexts.using(name);
      say("commands that name no scheduler now ask " + contexts.get(name).address());
      return after;
    }
  }

  /** {@code context add}. */
  @Command(
      name = "add",
      mixinStandardHelpOptions = true,
      description = {
        "Add a context: a scheduler, and the files that open it. The first one is used at once.",
        "Only the paths of files are stored, never what is in them."
      },
      footerHeading = "%nEXAMPLES%n",
      footer = {
        "  espalier context add prod --server https://scheduler:8080 --token-file prod.token",
        "  espalier context add eu --zookeeper zk1:2181,zk2:2181/espalier/eu"
      })
  static final class Add extends OnContexts {
    @Parameters(paramLabel = "NAME", description = "A name for the context.")
    private String name = "";

    @Mixin private TargetFlags target = new TargetFlags();

    Add(Path file) {
      super(file);
    }

    @Override
    Contexts run(Contexts contexts) {
      Target named = target.named(spec().commandLine()).absolute();
      if (!named.hasAddress()) {
        throw new CommandException(ExitCode.USAGE, "say --server or --zookeeper");
      }
      // What cannot be used is said now and not at the first command.
      named.check();
      Contexts more = contexts.with(name, named);
      Contexts after = contexts.byName().isEmpty() ? more.using(name) : more;
      say(
          name
              + " is "
              + named.address()
              + (name.equals(after.current())
                  ? ", and used"
                  : "; use it: espalier context use " + name));
      return after;
    }
  }

  /** {@code context remove}. */
  @Command(
      name = "remove",
      mixinStandardHelpOptions = true,
      description = "Remove a context; its files stay.",
      footerHeading = "%nEXAMPLES%n",
      footer = "  espalier context remove staging")
  static final class Remove extends OnContexts {
    @Parameters(paramLabel = "NAME", description = "The name of the context.")
    private String name = "";

    Remove(Path file) {
      super(file);
    }

    @Override
    Contexts run(Contexts contexts) {
      Contexts after = contexts.without(name);
      say(
          name
              + " is removed"
              + (name.equals(contexts.current()) ? "; no context is current now" : ""));
      return after;
    }
  }
}
