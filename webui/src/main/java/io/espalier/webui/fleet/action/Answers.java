package io.espalier.webui.fleet.action;

import io.espalier.core.json.Json;
import io.espalier.webui.fleet.poll.FleetClient;
import io.espalier.webui.fleet.poll.FleetOptions;
import io.espalier.webui.fleet.poll.FleetSchedulerState;
import io.espalier.webui.fleet.poll.FleetSchedulerView;
import io.espalier.webui.fleet.poll.SchedulerReply;
import io.espalier.webui.fleet.poll.SchedulerUnreachableException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * What many schedulers answered to the same question, by their ids, and who did not answer in time.
 *
 * @param asked how many were asked
 * @param found the answers, without those of schedulers that do not have it
 */
record Answers(int asked, List<One> found, Map<String, SchedulerUnreachableException> missing) {
  private static final int AT_A_TIME = 64;
  private static final int MOST_LISTED = 100;
  private static final int NOT_FOUND = 404;

  /** The answer of one scheduler. */
  record One(FleetSchedulerView host, Json.Obj said) {}

  /** An answer; null: the scheduler does not have it. */
  private record Said(Json.@Nullable Obj json) {}

  /**
   * Asks all of them.
   *
   * @param path with its query
   * @param within time limit; schedulers that have not answered by then are missing
   */
  static CompletableFuture<Answers> ask(
      FleetClient client,
      FleetOptions options,
      List<FleetSchedulerView> hosts,
      String path,
      Duration within) {
    Map<String, One> found = new TreeMap<>();
    Map<String, SchedulerUnreachableException> missing = new TreeMap<>();
    hosts.forEach(
        host ->
            missing.put(
                host.id(),
                new SchedulerUnreachableException(
                    FleetSchedulerState.SLOW, true, "it does not answer in time")));
    return Fanout.each(
            hosts,
            AT_A_TIME,
            client.readers(),
            host ->
                client
                    .ask(
                        host.address(),
                        "GET",
                        path,
                        null,
                        Map.of(),
                        options.receive(),
                        Answers::read)
                    .handle(
                        (said, failure) -> {
                          synchronized (missing) {
                            missing.remove(host.id());
                            if (failure != null) {
                              missing.put(host.id(), SchedulerUnreachableException.of(failure));
                            } else if (said.json() != null) {
                              found.put(host.id(), new One(host, said.json()));
                            }
                          }
                          return null;
                        }))
        .completeOnTimeout(null, within.toMillis(), TimeUnit.MILLISECONDS)
        .thenApplyAsync(
            done -> {
              synchronized (missing) {
                return new Answers(
                    hosts.size(), List.copyOf(found.values()), new TreeMap<>(missing));
              }
            },
            client.readers());
  }

  private static Said read(SchedulerReply reply) {
    if (reply.status() == NOT_FOUND) {
      return new Said(null);
    }
    if (reply.json() instanceof Json.Obj json) {
      return new Said(json);
    }
    throw new SchedulerUnreachableException(
        FleetSchedulerState.ERROR, true, "this is not what was asked for");
  }

  /** Adds who was asked and who is missing. */
  Json.Builder into(Json.Builder json) {
    List<Json> list = new ArrayList<>();
    missing.entrySet().stream()
        .limit(MOST_LISTED)
        .forEach(
            each ->
                list.add(
                    Json.object()
                        .put("host", each.getKey())
                        .put("state", each.getValue().state().word())
                        .put("detail", each.getValue().detail())
                        .build()));
    return json.put("asked", asked)
        .put("missing_total", missing.size())
        .put("missing", new Json.Arr(list));
  }

  /** Encodes a part of a path. */
  static String encoded(String part) {
    return URLEncoder.encode(part, StandardCharsets.UTF_8).replace("+", "%20");
  }
}
