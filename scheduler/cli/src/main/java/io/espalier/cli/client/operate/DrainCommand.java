package io.espalier.cli.client.operate;

import io.espalier.cli.client.Client;
import io.espalier.cli.client.CommandContext;
import io.espalier.cli.term.JsonFields;
import io.espalier.core.json.Json;
import io.espalier.server.ExitCode;
import io.espalier.webui.v1.ApiV1;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

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
public final class DrainCommand extends HoldCommand {
  private static final Duration LOOK_EVERY = Duration.ofMillis(500);

  @Option(names = "--wait", description = "Return when no task runs on it any more.")
  private boolean wait;

  @Option(
      names = "--at-most",
      paramLabel = "SECONDS",
      description = "With --wait: give up after so long, with exit code 1 (default: never).",
      defaultValue = "0")
  private long atMost;

  public DrainCommand(CommandContext clients) {
    super(clients);
  }

  @Override
  public int run(Client client) {
    Json.Obj body = tell(client, ApiV1.DRAIN);
    long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(atMost);
    while (wait && JsonFields.number(body, "running") > 0) {
      if (atMost > 0 && System.nanoTime() >= until) {
        say(body, worker() + " is draining; " + running(body) + " on it after " + atMost + " s");
        return ExitCode.FAILED;
      }
      if (!slept()) {
        return ExitCode.SIGNAL + 2;
      }
      body = look(client, body);
    }
    boolean empty = JsonFields.number(body, "running") == 0;
    say(body, worker() + (empty ? " is drained" : " is draining; " + running(body) + " on it"));
    return ExitCode.OK;
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
