package io.espalier.cli.client.operate;

import io.espalier.cli.client.Client;
import io.espalier.cli.client.ClientCommand;
import io.espalier.cli.client.CommandContext;
import io.espalier.cli.client.ListCommand;
import io.espalier.cli.client.ReasonOption;
import io.espalier.cli.term.AnsiStyle;
import io.espalier.cli.term.DurationConverter;
import io.espalier.cli.term.HumanFormat;
import io.espalier.cli.term.JsonFields;
import io.espalier.cli.term.Table;
import io.espalier.core.json.Json;
import io.espalier.server.ExitCode;
import io.espalier.webui.v1.ApiV1;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Commands on workers. */
public final class WorkerCommands {
  private WorkerCommands() {}

  /** {@code workers}: lists the workers. */
  @Command(
      name = "workers",
      mixinStandardHelpOptions = true,
      description =
          "List the workers: their labels and state, how many tasks they run, how busy their"
              + " hosts are, slots used and in all.",
      footerHeading = "%nEXAMPLES%n",
      footer = {"  espalier workers", "  espalier workers --watch"})
  public static final class Workers extends ListCommand {
    public Workers(CommandContext clients) {
      super(clients);
    }

    @Override
    public Json.Obj ask(Client client) {
      return get(client, ApiV1.WORKERS, Map.of(), Map.of());
    }

    @Override
    public void show(Json.Obj body) {
      Table table =
          new Table(
                  "WORKER",
                  "~KIND",
                  "HOST",
                  "~LABELS",
                  "STATE",
                  ">RUNNING",
                  "?>CPU",
                  "?~>LOAD",
                  "?~>MEMORY FREE",
                  "?~>DISK FREE",
                  "SLOTS",
                  "NOTE")
              .paint("STATE", AnsiStyle::ofState);
      for (Json.Obj worker : JsonFields.objects(body, "workers")) {
        Json.Obj measured = JsonFields.object(worker, "measured");
        table.row(
            JsonFields.text(worker, "shard"),
            JsonFields.text(worker, "kind"),
            JsonFields.text(worker, "host"),
            labels(worker),
            state(worker),
            JsonFields.number(worker, "running"),
            cpu(measured),
            load(measured),
            HumanFormat.bytes(measured, "memory_available_bytes"),
            HumanFormat.bytes(measured, "disk_free_bytes"),
            slots(worker),
            note(worker));
      }
      print(table, "there are no workers");
    }

    private static String labels(Json.Obj worker) {
      Json.Obj labels = JsonFields.object(worker, "labels");
      return labels.members().keySet().stream()
          .map(name -> name + "=" + JsonFields.text(labels, name))
          .collect(Collectors.joining(", "));
    }

    private static String state(Json.Obj worker) {
      String state = JsonFields.text(worker, "state");
      boolean cordoned =
          JsonFields.text(JsonFields.object(worker, "hold"), "kind").equals("cordon");
      return cordoned ? state + ", cordoned" : state;
    }

    /** Returns the part in use of the processors; empty when unknown. */
    private static String cpu(Json.Obj measured) {
      return measured.get("cpu_use") instanceof Json.Num use
          ? String.format(Locale.ROOT, "%.0f %%", 100 * use.value().doubleValue())
          : "";
    }

    private static String load(Json.Obj measured) {
      return measured.get("load_1min") instanceof Json.Num load
          ? String.format(Locale.ROOT, "%.2f", load.value().doubleValue())
          : "";
    }

    private static String slots(Json.Obj worker) {
      List<String> parts = new ArrayList<>();
      Json.Obj slots = JsonFields.object(worker, "slots");
      for (String resource : slots.members().keySet()) {
        Json.Obj of = JsonFields.object(slots, resource);
        parts.add(
            resource + " " + JsonFields.number(of, "used") + "/" + JsonFields.number(of, "limit"));
      }
      return String.join(", ", parts);
    }

    /** Returns the reason for the worker's state; an operator's reason comes first. */
    private static String note(Json.Obj worker) {
      String reason = JsonFields.text(JsonFields.object(worker, "hold"), "reason");
      return reason.isEmpty() ? JsonFields.text(worker, "note") : reason;
    }
  }

  /** The common part of the commands that control whether a worker accepts tasks. */
  abstract static class WorkerChange extends ClientCommand {
    @Parameters(paramLabel = "WORKER", description = "Shard of the worker, as `workers` names it.")
    private String worker = "";

    @Mixin private final ReasonOption reason = new ReasonOption();

    WorkerChange(CommandContext clients) {
      super(clients);
    }

    String worker() {
      return worker;
    }

    /** Sends the command and returns the worker as it is afterwards. */
    Json.Obj tell(Client client, String template) {
      return client.call(
          "POST", template, Map.of("worker", worker), Map.of(), reason.body().build());
    }

    static String running(Json.Obj body) {
      long running = JsonFields.number(body, "running");
      return running == 1 ? "1 task still runs" : running + " tasks still run";
    }
  }

  /** {@code drain WORKER}: stops new tasks for a worker, and waits until it has none. */
  @Command(
      name = "drain",
      mixinStandardHelpOptions = true,
      description = {
        "Give a worker no new tasks, so that it can be stopped once it has none; kill nothing.",
        "It stays drained, over restarts of the worker and the scheduler, until it is uncordoned."
      },
      footerHeading = "%nEXAMPLES%n",
      footer = {"  espalier drain host2 --wait --reason 'new kernel'", "  espalier uncordon host2"})
  public static final class Drain extends WorkerChange {
    private static final Duration LOOK_EVERY = Duration.ofMillis(500);

    @Option(names = "--wait", description = "Return when no task runs on it any more.")
    private boolean wait;

    @Option(
        names = "--at-most",
        paramLabel = "SPAN",
        converter = DurationConverter.class,
        description =
            "With --wait: give up after so long, such as 10m, with exit code 1 (default: never).")
    private @Nullable Long atMost;

    public Drain(CommandContext clients) {
      super(clients);
    }

    @Override
    public int run(Client client) {
      Json.Obj body = tell(client, ApiV1.DRAIN);
      Long most = atMost;
      long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(most == null ? 0 : most);
      while (wait && JsonFields.number(body, "running") > 0) {
        if (most != null && System.nanoTime() >= until) {
          answered(
              body, worker() + " is draining; " + running(body) + " on it after " + most + " s");
          return ExitCode.FAILED;
        }
        if (!slept()) {
          return ExitCode.SIGNAL + 2;
        }
        body = look(client, body);
      }
      boolean empty = JsonFields.number(body, "running") == 0;
      String state = empty ? " is drained" : " is draining; " + running(body) + " on it";
      return answered(body, worker() + state);
    }

    private static boolean slept() {
      try {
        Thread.sleep(LOOK_EVERY.toMillis());
        return true;
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return false;
      }
    }

    /** Queries the worker; a worker that no longer exists runs nothing. */
    private Json.Obj look(Client client, Json.Obj last) {
      for (Json.Obj found :
          JsonFields.objects(get(client, ApiV1.WORKERS, Map.of(), Map.of()), "workers")) {
        if (JsonFields.text(found, "shard").equals(worker())) {
          return found;
        }
      }
      Json.Builder gone = Json.object();
      last.members().forEach(gone::put);
      return gone.put("running", 0).put("state", "gone").build();
    }
  }

  /** {@code cordon WORKER}: stops new tasks for a worker. */
  @Command(
      name = "cordon",
      mixinStandardHelpOptions = true,
      description = "Give a worker no new tasks until it is uncordoned; kill nothing.",
      footerHeading = "%nEXAMPLES%n",
      footer = {"  espalier cordon host2 --reason 'slow disk'"})
  public static final class Cordon extends WorkerChange {
    public Cordon(CommandContext clients) {
      super(clients);
    }

    @Override
    public int run(Client client) {
      Json.Obj body = tell(client, ApiV1.CORDON);
      return answered(body, worker() + " is cordoned; " + running(body) + " on it");
    }
  }

  /** {@code uncordon WORKER}: ends a cordon or a drain. */
  @Command(
      name = "uncordon",
      mixinStandardHelpOptions = true,
      description = "Give a worker that was cordoned or drained tasks again.",
      footerHeading = "%nEXAMPLES%n",
      footer = {"  espalier uncordon host2"})
  public static final class Uncordon extends WorkerChange {
    public Uncordon(CommandContext clients) {
      super(clients);
    }

    @Override
    public int run(Client client) {
      return answered(
          tell(client, ApiV1.UNCORDON), worker() + " takes tasks again once it is healthy");
    }
  }
}
