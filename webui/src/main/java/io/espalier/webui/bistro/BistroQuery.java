package io.espalier.webui.bistro;

import io.espalier.core.json.Json;
import java.util.concurrent.CompletionStage;

/** Answers one kind of sub-query. */
@FunctionalInterface
interface BistroQuery {
  /**
   * Returns the value of {@code data}. Runs on a thread that may do work but must not wait.
   *
   * @throws BadArgumentsException for an error of the caller
   */
  CompletionStage<Json> answer(Arguments arguments, Snapshot snapshot);
}
