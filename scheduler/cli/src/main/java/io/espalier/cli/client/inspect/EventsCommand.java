package io.espalier.cli.client.inspect;

import io.espalier.cli.client.Client;
import io.espalier.cli.client.ClientCommand;
import io.espalier.cli.client.CommandContext;
import io.espalier.cli.term.HumanFormat;
import io.espalier.cli.term.JsonFields;
import io.espalier.core.json.Json;
import io.espalier.core.json.JsonWriter;
import io.espalier.server.ExitCode;
import io.espalier.webui.v1.ApiV1;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code events}: prints recent events and follows new ones. */
@Command(
    name = "events",
    mixinStandardHelpOptions = true,
    description =
        "Print recent events; with --follow, events as they happen. Of several filters all must"
            + " fit, of one that is repeated any. docs/events.md describes all kinds.",
    footerHeading = "%nEXAMPLES%n",
    footer = {
      "  espalier events --limit 20",
      "  espalier events --job backup --kind task_ended --since 2h",
      "  espalier events --set upgrade --follow --json"
    })
public final class EventsCommand extends ClientCommand {
  private static final int PAGE = 1000;

  /** Members that are said otherwise, or tell only programs something. */
  private static final Set<String> ELSEWHERE =
      Set.of(
          "job",
          "node",
          "row",
          "invocation",
          "worker_instance",
          "fingerprint",
          "result_bits",
          "start_ms");

  @Option(
      names = "--job",
      paramLabel = "JOB",
      description = "Only events about this job and its tasks; may be repeated.")
  private List<String> jobs = List.of();

  @Option(
      names = "--set",
      paramLabel = "SET",
      description = "Only events about the jobs of this set; may be repeated.")
  private List<String> sets = List.of();

  @Option(
      names = "--node",
      paramLabel = "NODE",
      description = "Only events about this node and its tasks; may be repeated.")
  private List<String> nodes = List.of();

  @Option(
      names = "--kind",
      paramLabel = "KIND",
      description = "Only events of this kind, such as task_ended; may be repeated.")
  private List<String> kinds = List.of();

  @Option(
      names = "--since",
      paramLabel = "TIME",
      description =
          "The first events from then on, not the newest: 2026-11-21T07:00:00Z, or how long ago:"
              + " 90s, 15m, 2h.")
  private String since = "";

  @Option(
      names = {"-f", "--follow"},
      description = "Print events as they happen, until interrupted; with --json one a line.")
  private boolean follow;

  @Option(
      names = "--limit",
      paramLabel = "N",
      defaultValue = "100",
      description = "At most so many events (default: ${DEFAULT-VALUE}).")
  private int limit = 100;

  public EventsCommand(CommandContext clients) {
    super(clients);
  }

  @Override
  public int run(Client client) {
    Map<String, List<String>> wanted = new LinkedHashMap<>();
    wanted.put("job", jobs);
    wanted.put("set", sets);
    wanted.put("node", nodes);
    wanted.put("kind", kinds);
    wanted.put("since_ms", optional(millis("--since", since)));
    if (follow) {
      client.follow(wanted, this::printed);
      return ExitCode.OK;
    }
    requireLimit(limit);
    Deque<Json.Obj> found = new ArrayDeque<>();
    Json.Obj body = searched(client, wanted, found);
    if (json()) {
      print(body.with("events", new Json.Arr(List.copyOf(found))));
      return ExitCode.OK;
    }
    found.forEach(this::printed);
    if (found.isEmpty()) {
      remark("there are no such events");
    }
    return ExitCode.OK;
  }

  /** Searches page by page and returns the last one; one request searches only so far. */
  private Json.Obj searched(
      Client client, Map<String, List<String>> wanted, Deque<Json.Obj> found) {
    Map<String, List<String>> query = new LinkedHashMap<>(wanted);
    while (true) {
      query.put("limit", List.of(Integer.toString(Math.min(PAGE, limit - found.size()))));
      Json.Obj body = get(client, ApiV1.EVENTS, Map.of(), query);
      List<Json.Obj> events = new ArrayList<>(JsonFields.objects(body, "events"));
      long oldest = JsonFields.number(body, "oldest");
      // Without filters the server has looked at what it answers, and at nothing else.
      long from =
          body.get("searched_after") == null && !events.isEmpty()
              ? JsonFields.number(events.get(0), "sequence") - 1
              : JsonFields.number(body, "searched_after");
      long to = JsonFields.number(body, "searched_to");
      if (since.isEmpty()) {
        Collections.reverse(events);
        events.forEach(found::addFirst);
        query.put("before", List.of(Long.toString(from + 1)));
      } else {
        found.addAll(events);
        if (query.get("after") == null && from + 1 == oldest && oldest > 1) {
          remark("events before number " + oldest + " are gone");
        }
        query.put("after", List.of(Long.toString(to)));
      }
      boolean isOver = since.isEmpty() ? from < oldest : to >= JsonFields.number(body, "newest");
      if (found.size() >= limit || isOver) {
        if (!isOver && !since.isEmpty()) {
          remark("there may be more: see --limit and --follow");
        }
        return body;
      }
    }
  }

  /**
   * Returns the members of an event for people: whom it is about first, then what is new, without
   * what only programs use.
   */
  static String sentence(Json.Obj data) {
    StringBuilder text = new StringBuilder();
    String node = JsonFields.text(data, "node");
    text.append(JsonFields.text(data, "job"));
    text.append(node.isEmpty() ? "" : (text.isEmpty() ? "" : " on ") + node);
    data.members()
        .forEach(
            (key, value) -> {
              boolean empty = JsonFields.text(value).isEmpty() || value.equals(Json.Obj.EMPTY);
              if (!ELSEWHERE.contains(key) && !empty) {
                text.append(text.isEmpty() ? "" : "  ").append(member(key, value));
              }
            });
    return text.toString();
  }

  private static String member(String key, Json value) {
    if (value instanceof Json.Num number && key.endsWith("_ms")) {
      long millis = number.value().longValue();
      String name = key.substring(0, key.length() - 3);
      boolean isTime = name.endsWith("_at") || name.equals("start") || name.endsWith("_since");
      return name + "=" + (isTime ? HumanFormat.time(millis) : HumanFormat.duration(millis));
    }
    return key + "=" + (value instanceof Json.Str text ? text.value() : JsonWriter.compact(value));
  }

  /** Prints an event; returns false when the reader has closed the pipe. */
  private boolean printed(Json.Obj event) {
    if (json()) {
      print(event);
    } else if (event.get("sequence") == null) {
      remark("events after " + JsonFields.number(event, "after") + " were lost");
    } else {
      out()
          .println(
              HumanFormat.clean(
                  HumanFormat.time(JsonFields.number(event, "time_ms"))
                      + "  "
                      + JsonFields.text(event, "kind")
                      + "  "
                      + sentence(JsonFields.object(event, "data"))));
    }
    return !out().checkError();
  }
}
