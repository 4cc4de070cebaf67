package io.espalier.cli.client.top;

import io.espalier.cli.client.Client;
import io.espalier.cli.client.ClientCommand;
import io.espalier.cli.client.CommandContext;
import io.espalier.cli.term.DurationConverter;
import io.espalier.core.json.Json;
import io.espalier.server.CommandException;
import io.espalier.server.ExitCode;
import java.io.IOException;
import java.util.List;
import org.jline.utils.AttributedString;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code top}: shows all jobs and the fullest nodes, live. */
@Command(
    name = "top",
    mixinStandardHelpOptions = true,
    description = {
      "Show all jobs and the nodes whose limits are in fullest use, live, on the whole screen.",
      "Bars: done, running, failed, waiting, cancelled, not begun. A node whose limit is used up"
          + " while tasks",
      "wait below it is what to look at. Where there is no terminal it prints one picture."
    },
    footer = {
      "",
      "Keys: arrows or j and k select; enter says what the tasks of a job wait for, or who holds"
          + " the",
      "slots of a node; tab goes to the other list; s sorts; p freezes; q ends.",
      "",
      "EXAMPLES",
      "  espalier top",
      "  espalier top --every 5 --server http://scheduler.example.com:8080",
      "  espalier top --once"
    })
public final class TopCommand extends ClientCommand {
  private static final int PLAIN_WIDTH = 100;
  private static final int PLAIN_NODES = 20;

  @Option(names = "--once", description = "Print one picture as plain text, and end.")
  private boolean once;

  @Option(
      names = "--every",
      paramLabel = "SECONDS",
      converter = DurationConverter.Seconds.class,
      defaultValue = "2",
      description = "Look again so often (default: ${DEFAULT-VALUE}).")
  private double every = 2;

  public TopCommand(CommandContext clients) {
    super(clients);
  }

  @Override
  public int run(Client client) {
    if (!(every >= 0.1 && every <= 86_400)) {
      throw misuse("--every must be 0.1 or more");
    }
    if (once || json() || viewport().height() == 0 || !viewport().asks()) {
      return picture(client);
    }
    // Reports a wrong address before it takes over the screen.
    TopData first = TopData.read(client, System.currentTimeMillis());
    TopFeed feed = new TopFeed(client, first, (long) (every * 1000));
    try (TopScreen screen = TopScreen.open()) {
      feed.start();
      return new TopLoop(screen, feed, viewport().colours(), server()).run();
    } catch (IOException e) {
      throw new CommandException(ExitCode.FAILED, "cannot draw on this terminal: " + e, e);
    } finally {
      feed.stop();
    }
  }

  private int picture(Client client) {
    TopData data = TopData.read(client, System.currentTimeMillis());
    if (json()) {
      print(json(data));
      return ExitCode.OK;
    }
    int width = viewport().width() > 0 ? viewport().width() : PLAIN_WIDTH;
    List<TopData.Hot> hot = data.hot().subList(0, Math.min(PLAIN_NODES, data.hot().size()));
    TopData shown =
        new TopData(
            data.atMillis(), data.brakes(), data.windows(), data.jobs(), hot, List.of(), "");
    int height =
        shown.jobs().size()
            + hot.size()
            + 8
            + (shown.brakes().isEmpty() ? 0 : 1)
            + (shown.windows().isEmpty() ? 0 : 1);
    List<AttributedString> lines =
        new TopView(Math.max(20, width), height, false, true)
            .lines(shown, new TopState(TopState.Sort.NAME, true, 0, -1, null, false), server());
    // Without the line that explains keys, and without trailing blank lines.
    int end = lines.size() - 1;
    while (end > 0 && lines.get(end - 1).length() == 0) {
      end--;
    }
    lines.subList(0, end).forEach(line -> out().println(line.toString().stripTrailing()));
    return ExitCode.OK;
  }

  private static Json.Obj json(TopData data) {
    List<Json> jobs = data.jobs().stream().<Json>map(TopCommand::json).toList();
    List<Json> nodes =
        data.hot().stream()
            .<Json>map(
                node ->
                    Json.object()
                        .put("level", node.level())
                        .put("name", node.name())
                        .put("resource", node.resource())
                        .put("used", node.used())
                        .put("limit", node.limit())
                        .put("waiting", node.waiting())
                        .build())
            .toList();
    return Json.object()
        .put("at_ms", data.atMillis())
        .put("brakes", Json.strings(data.brakes()))
        .put("windows", Json.strings(data.windows()))
        .put("jobs", new Json.Arr(jobs))
        .put("hottest", new Json.Arr(nodes))
        .build();
  }

  private static Json json(TopData.Job job) {
    Json.Builder body =
        Json.object()
            .put("name", job.name())
            .put("state", job.state())
            .put("total", job.total())
            .put("done", job.done())
            .put("running", job.running())
            .put("ready", job.ready())
            .put("waiting", job.waiting())
            .put("failed", job.failed())
            .put("cancelled", job.cancelled());
    return body.build();
  }
}
