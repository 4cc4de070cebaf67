package io.espalier.cli;

import io.espalier.cli.client.AccessFlags;
import io.espalier.cli.flags.MySqlFlags;
import io.espalier.cli.flags.ZooKeeperFlags;
import io.espalier.core.json.Json;
import io.espalier.core.json.JsonWriter;
import io.espalier.server.CommandException;
import io.espalier.server.ExitCode;
import io.espalier.server.ha.HaCheck;
import io.espalier.server.ha.HaCheck.Finding;
import io.espalier.server.ha.HaCheck.Level;
import io.espalier.server.ha.StepDownDrill;
import io.espalier.server.store.jdbc.mysql.MySqlAddress;
import io.espalier.server.zk.ZooKeeperTarget;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code espalier ha-check}: checks whether another scheduler would take over. */
@Command(
    name = "ha-check",
    mixinStandardHelpOptions = true,
    description = "Look at a group of schedulers: ensemble, leader, standbys, store, clocks.",
    footer = {
      "",
      "With --drill the leader is asked to let another lead, and the time until it starts tasks is",
      "measured. Nothing is killed; tasks go on.",
      "",
      "Exit codes: 0 nothing is wrong (warnings are allowed), 1 something is, 3 no ZooKeeper or"
          + " store.",
      "",
      "EXAMPLES",
      "  espalier ha-check --zookeeper zk1:2181,zk2:2181,zk3:2181/espalier --drill",
      "  espalier ha-check --status-store mysql://espalier@db.example:3306/espalier"
    })
final class HaCheckCommand implements Callable<Integer> {
  @Spec private CommandSpec spec = CommandSpec.create();

  @Mixin private final ZooKeeperFlags zookeeper = new ZooKeeperFlags();

  @Option(
      names = "--status-store",
      paramLabel = "STORE",
      description =
          "In place of --zookeeper: mysql://USER@HOST:PORT/SCHEMA of a group with --ha store.")
  private @Nullable String store;

  @Mixin private final MySqlFlags account = new MySqlFlags();

  @Mixin private final AccessFlags access = new AccessFlags();

  @Option(names = "--drill", description = "Let another scheduler lead, and measure.")
  private boolean drill;

  @Option(names = "--json", description = "Print one JSON object instead of lines.")
  private boolean json;

  @Override
  public Integer call() throws InterruptedException {
    Optional<ZooKeeperTarget> ensemble = zookeeper.target();
    Optional<MySqlAddress> schema = schema();
    if (ensemble.isPresent() == schema.isPresent()) {
      throw new CommandException(
          ExitCode.USAGE,
          "give --zookeeper HOSTS/PATH, or --status-store mysql://... with --ha store");
    }
    List<Finding> findings = new ArrayList<>();
    StepDownDrill.@Nullable Outcome outcome = null;
    try {
      HaCheck check = new HaCheck(access.access(), finding -> add(findings, finding));
      if (schema.isPresent()) {
        check.look(schema.get());
      } else {
        check.look(ensemble.orElseThrow());
      }
      if (drill && findings.stream().anyMatch(finding -> finding.level() == Level.PROBLEM)) {
        add(findings, new Finding(Level.PROBLEM, "drill", "not done: something is wrong already"));
      } else if (drill) {
        outcome =
            schema.isPresent()
                ? StepDownDrill.run(schema.get(), access.access())
                : StepDownDrill.run(ensemble.orElseThrow(), access.access());
        add(findings, finding(outcome));
      }
    } catch (IOException e) {
      throw new CommandException(
          findings.stream().anyMatch(f -> f.about().equals("session"))
              ? ExitCode.FAILED
              : ExitCode.UNREACHABLE,
          String.valueOf(e.getMessage()),
          e);
    }
    if (json) {
      out().println(JsonWriter.compact(json(findings, outcome)));
    }
    out().flush();
    return findings.stream().anyMatch(finding -> finding.level() == Level.PROBLEM)
        ? ExitCode.FAILED
        : ExitCode.OK;
  }

  private Optional<MySqlAddress> schema() {
    if (store == null) {
      return Optional.empty();
    }
    List<String> problems = new ArrayList<>();
    Optional<MySqlAddress> address = account.address("--status-store", store, problems);
    if (!problems.isEmpty()) {
      throw new CommandException(ExitCode.USAGE, String.join("\nespalier: ", problems));
    }
    return address;
  }

  private static Finding finding(StepDownDrill.Outcome outcome) {
    return new Finding(
        Level.OK,
        "drill",
        outcome.to()
            + " leads in epoch "
            + outcome.toEpoch()
            + ": answered "
            + outcome.answersAfterMillis()
            + " ms after the request"
            + (outcome.startsAfterMillis().isPresent()
                ? ", started its first task after "
                    + outcome.startsAfterMillis().getAsLong()
                    + " ms"
                : ", and had no task to start"));
  }

  private void add(List<Finding> findings, Finding finding) {
    findings.add(finding);
    if (!json) {
      out()
          .printf(
              "%-8s %-11s %s%n",
              finding.level().name().toLowerCase(Locale.ROOT), finding.about(), finding.message());
      out().flush();
    }
  }

  private static Json.Obj json(List<Finding> findings, StepDownDrill.@Nullable Outcome outcome) {
    List<Json> all = new ArrayList<>();
    for (Finding finding : findings) {
      all.add(
          Json.object()
              .put("level", finding.level().name().toLowerCase(Locale.ROOT))
              .put("about", finding.about())
              .put("message", finding.message())
              .build());
    }
    Json.Builder body = Json.object().put("findings", new Json.Arr(all));
    if (outcome != null) {
      Json.Builder went =
          Json.object()
              .put("from", outcome.from())
              .put("to", outcome.to())
              .put("from_epoch", outcome.fromEpoch())
              .put("to_epoch", outcome.toEpoch())
              .put("answers_after_ms", outcome.answersAfterMillis());
      if (outcome.startsAfterMillis().isPresent()) {
        went.put("starts_after_ms", outcome.startsAfterMillis().getAsLong());
      }
      body.put("drill", went.build());
    }
    return body.build();
  }

  private PrintWriter out() {
    return spec.commandLine().getOut();
  }
}
