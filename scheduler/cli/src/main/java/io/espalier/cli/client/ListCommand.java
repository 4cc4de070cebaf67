package io.espalier.cli.client;

import io.espalier.cli.term.JsonFields;
import io.espalier.cli.term.WatchOption;
import io.espalier.core.json.Json;
import io.espalier.server.ExitCode;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;

/**
 * A command that runs one query and shows the answer: formatted for people, unchanged with {@code
 * --json}, repeatedly with {@code --watch}.
 */
public abstract class ListCommand extends ClientCommand {
  /** The maximum page size of the server. */
  private static final int PAGE = 1000;

  @Mixin private final WatchOption watch = new WatchOption();

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
  public int run(Client client) {
    Json.Obj body = ask(client);
    if (json()) {
      print(body);
    } else {
      show(body);
    }
    return ExitCode.OK;
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
