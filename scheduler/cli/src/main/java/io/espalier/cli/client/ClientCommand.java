package io.espalier.cli.client;

import io.espalier.cli.term.AnsiStyle;
import io.espalier.cli.term.HumanFormat;
import io.espalier.cli.term.Table;
import io.espalier.cli.term.TerminalInfo;
import io.espalier.cli.term.TextWidth;
import io.espalier.cli.term.WatchOption;
import io.espalier.core.json.Json;
import io.espalier.core.json.JsonWriter;
import io.espalier.server.CommandException;
import io.espalier.server.ExitCode;
import io.espalier.webui.v1.ApiV1;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The common part of all commands that query or control a running scheduler. */
public abstract class ClientCommand implements Callable<Integer> {
  private static final Pattern AGO = Pattern.compile("([0-9]{1,9})([smhd])");

  private static final String ENDED_RUN =
      "; a run that has ended has no server: read what it left with --data-dir .espalier/NAME";

  private final CommandContext clients;
  private @Nullable PrintWriter frame;

  private final @Nullable DataDirFlag dataDir;
  private @Nullable CommandSpec spec;

  @Mixin private TargetFlags target = new TargetFlags();

  @Option(
      names = "--context",
      paramLabel = "NAME",
      description = "The context to use (default: ESPALIER_CONTEXT, else the current one).")
  private @Nullable String context;

  @Option(names = "--json", description = "Print what the server answers.")
  private boolean json;

  public ClientCommand(CommandContext clients) {
    this(clients, null);
  }

  /**
   * @param dataDir of commands that also work on the data of an ended run
   *     (docs/design/design.md#the-end-of-a-run); null: they need a server
   */
  public ClientCommand(CommandContext clients, @Nullable DataDirFlag dataDir) {
    this.clients = clients;
    this.dataDir = dataDir;
  }

  @Spec
  void spec(CommandSpec own) {
    spec = own;
    if (dataDir != null) {
      own.addMixin("dataDir", CommandSpec.forAnnotatedObject(dataDir));
    }
  }

  @Override
  public final Integer call() {
    refuseEmptyArguments();
    WatchOption watch = watch();
    String complaint = complaint();
    if (complaint != null) {
      throw misuse(complaint);
    }
    try (Client client = open(clients.opener())) {
      try {
        return watch != null && watch.on() ? watched(client, watch) : run(client);
      } catch (CommandException e) {
        throw mayNameNewJob() ? e : JobNameSuggestion.of(e, client, spec());
      }
    } catch (CommandException e) {
      throw dataDir != null && e.exitCode() == ExitCode.UNREACHABLE
          ? new CommandException(e.exitCode(), e.getMessage() + ENDED_RUN, e)
          : e;
    } finally {
      out().flush();
    }
  }

  /**
   * Refuses empty arguments, which are variables of a script that are not set: without them most
   * commands would act on more than is meant. Only a reason may be empty.
   */
  private void refuseEmptyArguments() {
    for (ArgSpec given : spec().commandLine().getParseResult().matchedArgs()) {
      String name = given instanceof OptionSpec option ? option.longestName() : given.paramLabel();
      if (given.originalStringValues().contains("") && !name.equals("--reason")) {
        throw misuse(name + ": a value is empty");
      }
    }
  }

  /** Returns whether the command may name a job that does not exist yet. */
  public boolean mayNameNewJob() {
    return false;
  }

  /** Returns the flag {@code --watch} of commands that list something. */
  @Nullable WatchOption watch() {
    return null;
  }

  /** Returns what is wrong with the flags together, or null. */
  @Nullable String complaint() {
    return null;
  }

  private int watched(Client client, WatchOption watch) {
    PrintWriter real = out();
    WatchOption.Picture picture = new WatchOption.Picture();
    boolean redrawn = viewport().height() > 0 && !json();
    boolean first = true;
    do {
      StringWriter text = new StringWriter();
      frame = new PrintWriter(text);
      try {
        run(client);
      } catch (CommandException e) {
        // A scheduler that restarts is worth waiting for; a wrong address is not.
        if (first || e.exitCode() != ExitCode.UNREACHABLE) {
          throw e;
        }
        frame.println(e.getMessage());
      } finally {
        frame.flush();
        frame = null;
      }
      first = false;
      if (redrawn) {
        real.print(picture.over(text.toString().lines().toList(), viewport().height()));
      } else {
        if (!json()) {
          real.println("--- " + Instant.now().truncatedTo(ChronoUnit.SECONDS));
        }
        real.print(text);
      }
      if (real.checkError()) {
        return ExitCode.OK; // the reader has closed the pipe
      }
    } while (viewport().pause(watch.every()));
    return ExitCode.SIGNAL + 2;
  }

  public TerminalInfo viewport() {
    return clients.viewport();
  }

  /** Runs the command and returns its exit code. */
  public abstract int run(Client client);

  /** Opens what the command asks. */
  protected Client open(Client.Opener opener) {
    return dataDir == null
        ? openServer(opener)
        : dataDir.open(spec().commandLine(), opener, this::openServer);
  }

  private Client openServer(Client.Opener opener) {
    return target().open(opener);
  }

  /**
   * Returns the scheduler that is meant. An address takes nothing from a context: the token of one
   * scheduler is never sent to another.
   */
  private Target target() {
    CommandLine line = spec().commandLine();
    Target named = target.named(line);
    boolean contextFlag = line.getParseResult().hasMatchedOption("--context");
    if (named.hasAddress() && !contextFlag) {
      return named;
    }
    if (line.getParseResult().hasMatchedOption(TargetFlags.SERVER)
        || line.getParseResult().hasMatchedOption(TargetFlags.ZOOKEEPER)) {
      throw misuse("--context and an address exclude each other");
    }
    Contexts contexts = Contexts.read(clients.contexts());
    String name = context == null ? contexts.current() : context;
    return name == null ? named : named.at(contexts.get(name));
  }

  /** Returns the address of the scheduler as the user named it. */
  public String server() {
    return target().address();
  }

  public boolean json() {
    return json;
  }

  public CommandSpec spec() {
    CommandSpec known = spec;
    if (known == null) {
      throw new IllegalStateException("used outside of a command line");
    }
    return known;
  }

  /** Returns the writer for answers; while watching, it writes to the next picture. */
  public PrintWriter out() {
    PrintWriter current = frame;
    return current == null ? spec().commandLine().getOut() : current;
  }

  /** Prints a remark that is not part of the answer. */
  public void remark(String text) {
    PrintWriter current = frame;
    PrintWriter err = current == null ? spec().commandLine().getErr() : current;
    err.println(text);
    err.flush();
  }

  public void print(Json.Obj body) {
    out().println(JsonWriter.compact(body));
  }

  /** Prints a table, or a remark when it has no rows. */
  public void print(Table table, String empty) {
    if (table.isEmpty()) {
      remark(empty);
    } else {
      table.lines(viewport().width(), viewport().colours()).forEach(out()::println);
    }
  }

  /** Prints a line for people, cut on a terminal that is redrawn. */
  public void say(String line) {
    String clean = HumanFormat.clean(line);
    out().println(frame == null ? clean : TextWidth.cut(clean, fullWidth()));
  }

  private int fullWidth() {
    return viewport().width() > 0 ? viewport().width() : Integer.MAX_VALUE;
  }

  public String painted(AnsiStyle paint, String text) {
    return viewport().colours() ? paint.on(HumanFormat.clean(text)) : HumanFormat.clean(text);
  }

  /** Prints what a change has returned: unchanged with {@code --json}, otherwise as one line. */
  public int answered(Json.Obj body, String line) {
    if (json()) {
      print(body);
    } else {
      say(line);
    }
    return ExitCode.OK;
  }

  /** Returns the failure of a command line that makes no sense. */
  public ParameterException misuse(String what) {
    return new ParameterException(spec().commandLine(), what);
  }

  public void requireLimit(int limit) {
    if (limit < 1) {
      throw misuse("--limit must be at least 1");
    }
  }

  public static Json.Obj get(
      Client client, String template, Map<String, String> path, Map<String, List<String>> query) {
    return client.call("GET", template, path, query, Json.Obj.EMPTY);
  }

  /**
   * Fails if there is no such job, or no such task of it, as a misspelt name finds nothing either.
   *
   * @param node null: any
   */
  public static void requireTask(Client client, String job, @Nullable String node) {
    if (node == null) {
      get(client, ApiV1.JOB, Map.of("job", job), Map.of());
    } else {
      get(client, ApiV1.TASK, Map.of("job", job, "node", node), Map.of());
    }
  }

  /** Returns the values of a parameter, which is left out when it is empty. */
  public static List<String> optional(@Nullable String value) {
    return value == null || value.isEmpty() ? List.of() : List.of(value);
  }

  /**
   * Returns the time that an option gives, such as {@code 2026-11-21T07:00:00Z} or {@code 15m} ago,
   * as epoch milliseconds in a query; empty for empty.
   */
  public String millis(String option, String time) {
    if (time.isEmpty()) {
      return "";
    }
    Matcher ago = AGO.matcher(time);
    try {
      if (ago.matches()) {
        String unit = ago.group(2).toUpperCase(Locale.ROOT);
        Duration span = Duration.parse((unit.equals("D") ? "P" : "PT") + ago.group(1) + unit);
        return Long.toString(Math.max(0, Instant.now().minus(span).toEpochMilli()));
      }
      return Long.toString(Math.max(0, Instant.parse(time).toEpochMilli()));
    } catch (DateTimeException | ArithmeticException e) {
      throw misuse(
          option
              + " \""
              + time
              + "\" is no time: say 2026-11-21T07:00:00Z, or how long ago: 90s, 15m, 2h, 1d");
    }
  }

  /** Refuses a span of time that ends before it begins; an empty end of it is open. */
  public void requireSpan(String beginOption, String begin, String endOption, String end) {
    if (begin.isEmpty() || end.isEmpty()) {
      return;
    }
    Instant first = Instant.ofEpochMilli(Long.parseLong(millis(beginOption, begin)));
    Instant last = Instant.ofEpochMilli(Long.parseLong(millis(endOption, end)));
    if (last.isBefore(first)) {
      throw misuse(
          "%s \"%s\" (%s) is before %s \"%s\" (%s): there is nothing in between"
              .formatted(endOption, end, last, beginOption, begin, first));
    }
  }
}
