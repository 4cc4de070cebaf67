package io.espalier.webui.v1;

import io.espalier.core.json.Json;
import java.util.concurrent.CompletionStage;

/**
 * One operation of the contract.
 *
 * @param method {@code GET}, {@code POST}, {@code PUT} or {@code DELETE}
 * @param template path with parameters in braces, as {@code openapi.yaml} writes it
 * @param changes whether it changes something, and so is logged
 * @param handler answers it
 */
public record ApiRoute(String method, String template, boolean changes, Handler handler) {

  static ApiRoute get(String template, Handler handler) {
    return new ApiRoute("GET", template, false, handler);
  }

  static ApiRoute post(String template, Handler handler) {
    return new ApiRoute("POST", template, true, handler);
  }

  /** Answers requests. */
  @FunctionalInterface
  public interface Handler {
    /**
     * The body of the answer. Runs where work is allowed; must not wait.
     *
     * @throws ApiFailure for what the caller did wrong; stages fail with it too, or with {@link
     *     io.espalier.core.api.RefusedException}
     */
    CompletionStage<Json> answer(ApiRequest request);
  }
}
