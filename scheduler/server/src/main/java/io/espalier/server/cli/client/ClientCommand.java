package io.espalier.server.cli.client;

import io.espalier.core.json.Json;
import io.espalier.core.json.JsonWriter;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** What all commands share that ask or tell a running scheduler something. */
abstract class ClientCommand implements Callable<Integer> {
  static final String DEFAULT_SERVER = "http://127.0.0.1:8080";

  private final Clients clients;

  @Spec private @Nullable CommandSpec spec;

  @Option(
      names = "--server",
      paramLabel = "URL",
      description = "The scheduler to ask (default: ${DEFAULT-VALUE}).",
      defaultValue = DEFAULT_SERVER)
  private String server = DEFAULT_SERVER;

  @Option(
      names = "--zookeeper",
      paramLabel = "HOSTS/PATH",
      description = "Ask the leader of this group of schedulers instead.")
  private @Nullable String zookeeper;

  @Option(
      names = "--zookeeper-auth",
      paramLabel = "FILE",
      description = "File with a scheme, a blank and an account for ZooKeeper.")
  private @Nullable Path zookeeperAuth;

  @Mixin private AccessFlags access = new AccessFlags();

  @Option(names = "--json", description = "Print what the server answers.")
  private boolean json;

  ClientCommand(Clients clients) {
    this.clients = clients;
  }

  @Override
  public final Integer call() {
    try (Client client = open(clients.opener())) {
      return run(client);
    } finally {
      out().flush();
    }
  }

  /** The exit code. */
  abstract int run(Client client);

  Client open(Client.Opener opener) {
    return zookeeper == null
        ? opener.server(server, access.access())
        : opener.leader(zookeeper, zookeeperAuth, access.access());
  }

  boolean json() {
    return json;
  }

  CommandSpec spec() {
    CommandSpec known = spec;
    if (known == null) {
      throw new IllegalStateException("used outside of a command line");
    }
    return known;
  }

  PrintWriter out() {
    return spec().commandLine().getOut();
  }

  /** Remarks that are not part of the answer. */
  void remark(String text) {
    PrintWriter err = spec().commandLine().getErr();
    err.println(text);
    err.flush();
  }

  void print(Json.Obj body) {
    out().println(JsonWriter.compact(body));
  }

  /** A table, or a remark when it has no rows. */
  void print(Table table, String empty) {
    if (table.isEmpty()) {
      remark(empty);
    } else {
      table.lines(clients.width()).forEach(out()::println);
    }
  }

  static Json.Obj get(
      Client client, String template, Map<String, String> path, Map<String, List<String>> query) {
    return client.call("GET", template, path, query, Json.Obj.EMPTY);
  }

  /** A parameter, left out when it is empty. */
  static List<String> optional(@Nullable String value) {
    return value == null || value.isEmpty() ? List.of() : List.of(value);
  }

  static Json.Obj reason(String reason) {
    return reason.isEmpty() ? Json.Obj.EMPTY : Json.object().put("reason", reason).build();
  }
}
