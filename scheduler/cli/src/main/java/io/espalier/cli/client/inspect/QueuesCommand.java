package io.espalier.cli.client.inspect;

import io.espalier.cli.client.Client;
import io.espalier.cli.client.CommandContext;
import io.espalier.cli.client.ListCommand;
import io.espalier.cli.term.JsonFields;
import io.espalier.cli.term.Table;
import io.espalier.core.json.Json;
import io.espalier.webui.v1.ApiV1;
import java.math.BigDecimal;
import java.math.MathContext;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;

/** {@code queues}: lists the queues that share the tree. */
@Command(
    name = "queues",
    mixinStandardHelpOptions = true,
    description =
        "List the queues: slots held of what they may hold, what they have used lately, and the"
            + " share of starts that is due to each under the policy fair_share.",
    footerHeading = "%nEXAMPLES%n",
    footer = {"  espalier queues", "  espalier queues --watch"})
public final class QueuesCommand extends ListCommand {
  private static final MathContext SHOWN = new MathContext(3);

  public QueuesCommand(CommandContext clients) {
    super(clients);
  }

  @Override
  public Json.Obj ask(Client client) {
    return get(client, ApiV1.QUEUES, Map.of(), Map.of());
  }

  @Override
  public void show(Json.Obj body) {
    Table table =
        new Table(
            "QUEUE",
            ">FACTOR",
            "~>WEIGHT",
            ">RUNNING",
            ">WAITING",
            "SLOTS",
            ">USE",
            ">LATELY",
            ">EFFECTIVE",
            ">SHARE");
    for (Json.Obj queue : JsonFields.objects(body, "queues")) {
      table.row(
          JsonFields.text(queue, "name"),
          number(queue, "priority_factor"),
          queue.get("weight") == null ? "" : number(queue, "weight"),
          JsonFields.number(queue, "running"),
          JsonFields.text(queue, "waiting_tasks"),
          slots(queue),
          percent(queue, "use"),
          percent(queue, "current_priority"),
          number(queue, "effective_priority"),
          percent(queue, "share"));
    }
    print(table, "there are no queues");
  }

  private static BigDecimal value(Json.Obj queue, String key) {
    return queue.get(key) instanceof Json.Num number ? number.value() : BigDecimal.ZERO;
  }

  private static String number(Json.Obj queue, String key) {
    return value(queue, key).round(SHOWN).stripTrailingZeros().toString();
  }

  private static String percent(Json.Obj queue, String key) {
    BigDecimal percent = value(queue, key).movePointRight(2).round(SHOWN);
    // Less than a thousandth of a per cent is shown as zero.
    boolean none = percent.compareTo(new BigDecimal("0.001")) < 0;
    return (none ? "0" : percent.stripTrailingZeros().toPlainString()) + " %";
  }

  /** Returns the slots in use, of the queue's limit or of all slots. */
  private static String slots(Json.Obj queue) {
    List<String> parts = new ArrayList<>();
    Json.Obj resources = JsonFields.object(queue, "resources");
    for (String resource : resources.members().keySet()) {
      Json.Obj of = JsonFields.object(resources, resource);
      String most = of.get("cap") == null ? "total" : "cap";
      parts.add(resource + " " + JsonFields.number(of, "held") + "/" + JsonFields.number(of, most));
    }
    return String.join(", ", parts);
  }
}
