package io.espalier.cli.client.inspect;

import io.espalier.cli.client.Client;
import io.espalier.cli.client.CommandContext;
import io.espalier.cli.client.ListCommand;
import io.espalier.cli.term.JsonFields;
import io.espalier.cli.term.Table;
import io.espalier.core.json.Json;
import io.espalier.webui.v1.ApiV1;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code groups}: lists the kinds of redundancy groups, or the groups of one kind. */
@Command(
    name = "groups",
    mixinStandardHelpOptions = true,
    description =
        "List the kinds of redundancy groups or, of one kind, the groups: how many members may be"
            + " busy at once, and which are.",
    footerHeading = "%nEXAMPLES%n",
    footer = {"  espalier groups", "  espalier groups replset --full --watch"})
public final class GroupsCommand extends ListCommand {
  /** The maximum number of busy members and of others in a row. */
  private static final int SHOWN = 3;

  @Parameters(
      arity = "0..1",
      paramLabel = "KIND",
      defaultValue = "",
      description = "The kind whose groups to list; all kinds in numbers if absent.")
  private String kind = "";

  @Option(names = "--full", description = "Only groups in which no further member may become busy.")
  private boolean full;

  @Option(
      names = "--limit",
      paramLabel = "N",
      defaultValue = "50",
      description = "At most so many groups (default: ${DEFAULT-VALUE}).")
  private int limit = 50;

  public GroupsCommand(CommandContext clients) {
    super(clients);
  }

  @Override
  public Json.Obj ask(Client client) {
    if (kind.isEmpty()) {
      return get(client, ApiV1.GROUPS, Map.of(), Map.of());
    }
    return pages(
        "groups",
        limit,
        (after, size) ->
            get(
                client,
                ApiV1.GROUPS_OF_KIND,
                Map.of("kind", kind),
                Map.of(
                    "state",
                    optional(full ? "full" : ""),
                    "after",
                    optional(after),
                    "limit",
                    List.of(Integer.toString(size)))));
  }

  @Override
  public void show(Json.Obj body) {
    if (kind.isEmpty()) {
      showKinds(body);
    } else {
      showGroups(body);
    }
  }

  private void showKinds(Json.Obj body) {
    Table table =
        new Table(
            "KIND",
            "LEVEL",
            "~BY",
            ">GROUPS",
            ">FULL",
            ">MEMBERS",
            ">BUSY",
            ">WAITING",
            ">OUTSIDE");
    for (Json.Obj each : JsonFields.objects(body, "kinds")) {
      table.row(
          JsonFields.text(each, "name"),
          JsonFields.text(each, "level"),
          JsonFields.text(each, "by"),
          JsonFields.number(each, "groups"),
          JsonFields.number(each, "full"),
          JsonFields.number(each, "members"),
          JsonFields.number(each, "busy"),
          JsonFields.number(each, "waiting"),
          JsonFields.number(each, "outside"));
    }
    print(table, "no redundancy groups are configured");
  }

  private void showGroups(Json.Obj body) {
    Table table = new Table("GROUP", ">BUSY", ">ALLOWED", ">MEMBERS", "BUSY MEMBERS", "?~OTHERS");
    for (Json.Obj group : JsonFields.objects(body, "groups")) {
      List<String> busy = new ArrayList<>();
      List<String> idle = new ArrayList<>();
      for (Json.Obj member : JsonFields.objects(group, "members")) {
        String node = JsonFields.text(member, "node");
        if (JsonFields.number(member, "running") == 0) {
          idle.add(node);
        } else {
          busy.add(node + task(member));
        }
      }
      long all = JsonFields.number(group, "busy");
      table.row(
          JsonFields.text(group, "name"),
          all,
          JsonFields.number(group, "limit"),
          JsonFields.number(group, "size"),
          few(busy, all),
          few(idle, JsonFields.number(group, "size") - all));
    }
    print(table, full ? "no group is full" : "no node is in a group of this kind");
    if (!JsonFields.text(body, "next").isEmpty()) {
      remark("there are more groups; see --limit");
    }
  }

  private static String task(Json.Obj member) {
    String job = JsonFields.text(member, "job");
    long others = JsonFields.number(member, "running") - 1;
    return job.isEmpty()
        ? ""
        : " ("
            + job
            + " "
            + JsonFields.text(member, "task")
            + (others > 0 ? " and " + others + " more" : "")
            + ")";
  }

  private static String few(List<String> names, long all) {
    int shown = Math.min(SHOWN, names.size());
    String text = String.join(", ", names.subList(0, shown));
    return all > shown ? text + " and " + (all - shown) + " more" : text;
  }
}
