package io.espalier.cli.client;

import io.espalier.core.json.Json;
import io.espalier.server.security.ClientAccess;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Gives access to the resources of {@code /api/v1}: over HTTP, or in this process for a data
 * directory whose scheduler has ended. Answers are the bodies of the contract, so {@code --json}
 * prints them unchanged. Calls block.
 */
public interface Client extends AutoCloseable {
  /**
   * Calls one operation of the contract.
   *
   * @param method {@code GET}, {@code POST}, {@code PUT} or {@code DELETE}
   * @param template path as {@code ApiV1} names it, such as {@code /api/v1/jobs/{job}}
   * @param path values of the template's parameters
   * @param query parameters; empty lists are left out
   * @param body empty: none
   * @throws io.espalier.server.CommandException unreachable (3), unknown or refused (1), bad
   *     arguments or not authorised (2)
   */
  Json.Obj call(
      String method,
      String template,
      Map<String, String> path,
      Map<String, List<String>> query,
      Json.Obj body);

  /**
   * Passes on new events until {@code onEvent} returns false; resumes at the same position after a
   * lost connection. An event without {@code sequence} reports a gap.
   *
   * @param query parameters of the stream
   */
  void follow(Map<String, List<String>> query, Predicate<Json.Obj> onEvent);

  /**
   * Passes on lines of output as they are written, in the form of the stream of {@code ApiV1.LOGS},
   * until {@code onLine} returns false; resumes at the same position after a lost connection. An
   * object without {@code id} is about the stream: {@code missing}, {@code problem}, {@code end}.
   *
   * @param query parameters of the stream
   */
  void followLogs(Map<String, List<String>> query, Predicate<Json.Obj> onLine);

  @Override
  void close();

  /** Opens clients. */
  interface Opener {
    /**
     * @param server URL as the user wrote it
     */
    Client server(String server);

    /**
     * Same, for a scheduler that requires credentials.
     *
     * @param access the credentials and the trusted authorities
     */
    default Client server(String server, ClientAccess access) {
      return server(server);
    }

    /**
     * Finds the leader of a group of schedulers, which may take a few seconds.
     *
     * @param group as {@code HOSTS/PATH}
     * @param authFile contains the account for ZooKeeper; null: none is needed
     * @param access the credentials and the trusted authorities
     */
    default Client leader(
        String group, java.nio.file.@Nullable Path authFile, ClientAccess access) {
      throw new UnsupportedOperationException("no ZooKeeper here: " + group);
    }

    /**
     * Opens the data of an ended scheduler for queries and commands.
     *
     * @param dataDir its data directory
     */
    Client dataDirectory(Path dataDir);
  }
}
