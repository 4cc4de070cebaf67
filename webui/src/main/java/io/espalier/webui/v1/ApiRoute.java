package io.espalier.webui.v1;

import io.espalier.core.json.Json;
import io.espalier.webui.security.Role;
import java.util.concurrent.CompletionStage;

/**
 * One operation of the contract.
 *
 * @param method {@code GET}, {@code POST}, {@code PUT} or {@code DELETE}
 * @param template path with parameters in braces, as {@code openapi.yaml} writes it
 * @param changes whether it changes something, and is therefore logged and done once per
 *     idempotency key
 * @param role required of the caller, the same as {@code x-role} in {@code openapi.yaml}
 * @param handler answers the requests
 * @param tag computes the entity tag of answers
 */
public record ApiRoute(
    String method, String template, boolean changes, Role role, Handler handler, Tag tag) {
  public ApiRoute {
    if (changes && !role.covers(Role.OPERATOR)) {
      throw new IllegalArgumentException(method + " " + template + " changes something");
    }
  }

  /**
   * Creates a route that requires a viewer, or an operator if it changes something. Its answers
   * have no entity tag.
   */
  public ApiRoute(String method, String template, boolean changes, Handler handler) {
    this(method, template, changes, changes ? Role.OPERATOR : Role.VIEWER, handler, answer -> "");
  }

  static ApiRoute get(String template, Handler handler) {
    return new ApiRoute("GET", template, false, handler);
  }

  static ApiRoute post(String template, Handler handler) {
    return new ApiRoute("POST", template, true, handler);
  }

  /** Creates a change that requires an admin, because it decides what runs or who leads. */
  static ApiRoute admin(String method, String template, Handler handler) {
    return new ApiRoute(method, template, true, Role.ADMIN, handler, answer -> "");
  }

  /** Creates an operation that another server answers, to be authorised here and forwarded. */
  public static ApiRoute elsewhere(String method, String template) {
    return new ApiRoute(
        method,
        template,
        false,
        request -> {
          throw new IllegalStateException("another server answers " + template);
        });
  }

  /** Returns the same operation with a path prefix. */
  public ApiRoute below(String prefix) {
    return new ApiRoute(method, prefix + template, changes, role, handler, tag);
  }

  /** Returns the same operation with entity tags. */
  ApiRoute tagged(Tag newTag) {
    return new ApiRoute(method, template, changes, role, handler, newTag);
  }

  /** Computes the entity tag of an answer. */
  @FunctionalInterface
  public interface Tag {
    /**
     * Returns the tag without its quotes; empty for none.
     *
     * @param answer the body
     */
    String of(Json answer);
  }

  /** Answers requests. */
  @FunctionalInterface
  public interface Handler {
    /**
     * Returns the body of the answer. Runs on a thread that may do work but must not wait.
     *
     * @throws ApiException for an error of the caller; stages fail with it too, or with {@link
     *     io.espalier.core.api.RefusedException}
     */
    CompletionStage<Json> answer(ApiRequest request);
  }
}
