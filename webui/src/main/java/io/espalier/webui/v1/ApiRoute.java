package io.espalier.webui.v1;

import io.espalier.core.json.Json;
import io.espalier.webui.security.Role;
import java.util.concurrent.CompletionStage;

/**
 * One operation of the contract.
 *
 * @param method {@code GET}, {@code POST}, {@code PUT} or {@code DELETE}
 * @param template path with parameters in braces, as {@code openapi.yaml} writes it
 * @param changes whether it changes something, and so is logged and done once per idempotency key
 * @param role that the caller needs, the same as {@code x-role} in {@code openapi.yaml}
 * @param handler answers it
 * @param tag the entity tag of its answers
 */
public record ApiRoute(
    String method, String template, boolean changes, Role role, Handler handler, Tag tag) {
  public ApiRoute {
    if (changes && !role.covers(Role.OPERATOR)) {
      throw new IllegalArgumentException(method + " " + template + " changes something");
    }
  }

  /** Needs a viewer, or an operator when it changes something; its answers have no entity tag. */
  public ApiRoute(String method, String template, boolean changes, Handler handler) {
    this(method, template, changes, changes ? Role.OPERATOR : Role.VIEWER, handler, answer -> "");
  }

  static ApiRoute get(String template, Handler handler) {
    return new ApiRoute("GET", template, false, handler);
  }

  static ApiRoute post(String template, Handler handler) {
    return new ApiRoute("POST", template, true, handler);
  }

  /** A change that decides what runs, or who leads. */
  static ApiRoute admin(String method, String template, Handler handler) {
    return new ApiRoute(method, template, true, Role.ADMIN, handler, answer -> "");
  }

  /** An operation that only another server answers, to be judged and handed on. */
  public static ApiRoute elsewhere(String method, String template) {
    return new ApiRoute(
        method,
        template,
        false,
        request -> {
          throw new IllegalStateException("another server answers " + template);
        });
  }

  /** The same operation at a longer path. */
  public ApiRoute below(String prefix) {
    return new ApiRoute(method, prefix + template, changes, role, handler, tag);
  }

  /** The same with entity tags. */
  ApiRoute tagged(Tag newTag) {
    return new ApiRoute(method, template, changes, role, handler, newTag);
  }

  /** Finds the entity tag in an answer. */
  @FunctionalInterface
  public interface Tag {
    /**
     * The tag without its quotes; empty for none.
     *
     * @param answer the body
     */
    String of(Json answer);
  }

  /** Answers requests. */
  @FunctionalInterface
  public interface Handler {
    /**
     * The body of the answer. Runs where work is allowed; must not wait.
     *
     * @throws ApiException for what the caller did wrong; stages fail with it too, or with {@link
     *     io.espalier.core.api.RefusedException}
     */
    CompletionStage<Json> answer(ApiRequest request);
  }
}
