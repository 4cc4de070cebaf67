package io.espalier.webui.v1;

import io.espalier.core.json.Json;
import io.espalier.webui.security.Role;
import java.util.concurrent.CompletionStage;

/**
 * One operation of the contract.
 *
 * @param method {@code GET}, {@code POST}, {@code PUT} or {@code DELETE}
 * @param template path with parameters in braces, as {@code openapi.yaml} writes it
 * @param changes whether it changes something, and so is logged
 * @param role that the caller needs, the same as {@code x-role} in {@code openapi.yaml}
 * @param handler answers it
 */
public record ApiRoute(
    String method, String template, boolean changes, Role role, Handler handler) {
  public ApiRoute {
    if (changes && !role.covers(Role.OPERATOR)) {
      throw new IllegalArgumentException(method + " " + template + " changes something");
    }
  }

  /** Needs a viewer, or an operator when it changes something. */
  public ApiRoute(String method, String template, boolean changes, Handler handler) {
    this(method, template, changes, changes ? Role.OPERATOR : Role.VIEWER, handler);
  }

  static ApiRoute get(String template, Handler handler) {
    return new ApiRoute("GET", template, false, handler);
  }

  static ApiRoute post(String template, Handler handler) {
    return new ApiRoute("POST", template, true, handler);
  }

  /** A change that decides what runs, or who leads. */
  static ApiRoute admin(String method, String template, Handler handler) {
    return new ApiRoute(method, template, true, Role.ADMIN, handler);
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
