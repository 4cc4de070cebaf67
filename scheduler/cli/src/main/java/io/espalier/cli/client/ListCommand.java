package io.espalier.cli.client;

import io.espalier.cli.term.HumanFormat;
import io.espalier.cli.term.JsonFields;
import io.espalier.cli.term.Table;
import io.espalier.cli.term.WatchOption;
import io.espalier.core.json.Json;
import io.espalier.server.ExitCode;
import io.espalier.server.config.yaml.YamlWriter;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * A command that runs one query and shows the answer: formatted for people or as {@code -o} says,
 * unchanged with {@code --json}, repeatedly with {@code --watch}.
 */
public abstract class ListCommand extends ClientCommand {
  /** The maximum page size of the server. */
  private static final int PAGE = 1000;

  /** How an answer is printed. */
  enum Format {
    table,
    json,
    yaml,
    csv,
    name
  }

  @Mixin private final WatchOption watch = new WatchOption();

  @Option(
      names = {"-o", "--output"},
      paramLabel = "FORMAT",
      description =
          "${COMPLETION-CANDIDATES}: json and yaml are what the server answers, csv is the table"
              + " with all columns, name its first column alone (default: ${DEFAULT-VALUE}).")
  private Format format = Format.table;

  public ListCommand(CommandContext clients) {
    this(clients, null);
  }

  /** As {@link ClientCommand#ClientCommand(CommandContext, DataDirFlag)}. */
  public ListCommand(CommandContext clients, @Nullable DataDirFlag dataDir) {
    super(clients, dataDir);
  }

  /** Returns the server's answer. */
  public abstract Json.Obj ask(Client client);

  /** Prints the answer for people. */
  public abstract void show(Json.Obj body);

  @Override
  public final WatchOption watch() {
    return watch;
  }

  @Override
  final @Nullable String complaint() {
    boolean given = spec().commandLine().getParseResult().hasMatchedOption("--output");
    return super.json() && given && format != Format.json
        ? "--json and --output " + format + " exclude each other"
        : watch.complaint();
  }

  @Override
  public int run(Client client) {
    Json.Obj body = ask(client);
    if (json()) {
      print(body);
    } else if (format == Format.yaml) {
      out().print(YamlWriter.plain(body));
    } else {
      show(body);
    }
    return ExitCode.OK;
  }

  @Override
  public boolean json() {
    return super.json() || format == Format.json;
  }

  private boolean forPrograms() {
    return format == Format.csv || format == Format.name;
  }

  @Override
  public void print(Table table, String empty) {
    if (!forPrograms()) {
      super.print(table, empty);
      return;
    }
    List<String> lines = format == Format.csv ? table.csv() : table.names();
    lines.forEach(line -> out().print(line + (format == Format.csv ? "\r\n" : "\n")));
  }

  @Override
  public void say(String line) {
    if (forPrograms()) {
      remark(HumanFormat.clean(line));
    } else {
      super.say(line);
    }
  }

  /** Fetches one page. */
  public interface Page {
    /**
     * @param after the end of the previous page; empty for the first one
     */
    Json.Obj get(String after, int size);
  }

  /**
   * Returns all pages of a list up to a limit, as one answer with the list and its continuation,
   * {@code next}.
   *
   * @throws picocli.CommandLine.ParameterException when the limit is invalid
   */
  public Json.Obj pages(String list, int limit, Page pages) {
    requireLimit(limit);
    List<Json> items = new ArrayList<>();
    String after = "";
    do {
      Json.Obj body = pages.get(after, Math.min(PAGE, limit - items.size()));
      items.addAll(JsonFields.objects(body, list));
      after = JsonFields.text(body, "next");
    } while (!after.isEmpty() && items.size() < limit);
    return Json.object().put(list, new Json.Arr(items)).put("next", after).build();
  }
}
