package io.espalier.server.cli.client;

import io.espalier.core.json.Json;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * What the client commands may ask: over HTTP, or of a data directory whose scheduler has ended.
 * Every answer is the body of the {@code /api/v1} resource of the same name, so {@code --json}
 * prints it as it is. Calls block.
 *
 * <p>Failures are {@code CommandFailure}: unreachable 3, unknown or refused 1, bad arguments 2.
 */
public interface Client extends AutoCloseable {
  Json.Obj jobs();

  /**
   * @param after cursor of the previous page, or empty
   */
  Json.Obj tasks(String job, String status, String prefix, String after, int limit);

  Json.Obj explain(String job, String node);

  Json.Obj forgive(String job);

  Json.Obj kill(String job, String node);

  Json.Obj pause(String job, String reason);

  Json.Obj resume(String job);

  Json.Obj logs(LogRequest request);

  Json.Obj running();

  Json.Obj workers();

  /** The most recent events, at most {@code limit}. */
  Json.Obj events(int limit);

  /**
   * Hands over events as they come, for ever or until {@code onEvent} answers false; goes on after
   * a lost connection where it was.
   */
  void followEvents(Predicate<Json.Obj> onEvent);

  @Override
  void close();

  /**
   * Which lines.
   *
   * @param node null: all nodes
   * @param regex null: all lines
   * @param from id to go on from, or empty
   */
  record LogRequest(
      String stream,
      List<String> jobs,
      @Nullable String node,
      @Nullable String regex,
      String from,
      int limit,
      boolean ascending) {}
}
