package io.espalier.webui.contract;

import io.espalier.core.json.Json;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The parts of a request that the contract defines.
 *
 * @param path values of the template's parameters, decoded
 * @param query values by name, decoded
 * @param headers by name in lower case
 * @param body null when there is none
 */
public record RequestData(
    Map<String, String> path,
    Map<String, List<String>> query,
    Map<String, String> headers,
    @Nullable Json body) {
  /** The same request with a body. */
  public RequestData withBody(@Nullable Json newBody) {
    return new RequestData(path, query, headers, newBody);
  }
}
