package io.espalier.core.config;

import io.espalier.core.json.Json;
import io.espalier.core.problem.Problem;
import io.espalier.core.problem.Result;
import java.util.Collection;
import java.util.List;
import java.util.SortedSet;
import java.util.TreeSet;

/**
 * Turns a configuration document into typed values (behaviour section 2, design sections 7 and 8).
 * Immutable; pure.
 */
public final class ConfigParser {
  private final SortedSet<String> policies;
  private final SortedSet<String> workerSelectors;
  private final SortedSet<String> nodeSourceTypes;

  /**
   * @param policies names of scheduling policies; any other name is an error
   * @param workerSelectors names of worker selectors; any other name is an error
   * @param nodeSourceTypes names of node source types; any other name is a warning here and a
   *     failure when nodes are fetched
   */
  public ConfigParser(
      Collection<String> policies,
      Collection<String> workerSelectors,
      Collection<String> nodeSourceTypes) {
    this.policies = new TreeSet<>(policies);
    this.workerSelectors = new TreeSet<>(workerSelectors);
    this.nodeSourceTypes = new TreeSet<>(nodeSourceTypes);
  }

  /**
   * Reads a document. Every problem of every part is collected, with its place in the text if the
   * document has one.
   *
   * @return no value when the settings have an error; jobs with errors are kept, and cannot run
   */
  public Result<Config> parse(Json document) {
    return new Result<>(
        null,
        List.of(
            Problem.error(
                "", "not written yet" + policies + workerSelectors + nodeSourceTypes + document)));
  }
}
