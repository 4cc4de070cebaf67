package io.espalier.core.status;

import io.espalier.core.json.Json;
import io.espalier.core.problem.Result;

/** The port to a JSON reader, for text that tasks wrote. Pure; bad text is a problem, no throw. */
@FunctionalInterface
public interface JsonText {
  /** One JSON value, or why the text is none. */
  Result<Json> read(String text);
}
