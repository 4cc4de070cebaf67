package io.espalier.webui.bistro;

import io.espalier.core.json.Json;
import java.util.concurrent.CompletionStage;

/** Answers one kind of sub-query. */
@FunctionalInterface
interface BistroQuery {
  /**
   * The value of {@code data}. Runs where work is allowed; must not wait.
   *
   * @throws BadArgumentsException for what the caller did wrong
   */
  CompletionStage<Json> answer(Arguments arguments, Snapshot snapshot);
}
