package io.espalier.core.api;

import io.espalier.core.json.Json;

/**
 * What a service reports about its call (docs/calls.md#callbacks).
 *
 * @param invocation how the service knows the invocation
 * @param signature proves that the report comes from whom the call was sent to
 * @param said what the service says, as it would answer a question
 */
public record Callback(
    String job, String node, String invocation, String signature, Json.Obj said) {

  /** What became of a callback. */
  public enum Outcome {
    /** It is recorded. */
    RECORDED,
    /** The invocation has ended before, in the same way; nothing has changed. */
    KNOWN,
    /** The invocation has ended in another way; nothing has changed. */
    CONTRADICTED,
    /** The invocation is not known any more, or has been given up; nothing has changed. */
    GONE,
    /** The signature is not the one of this invocation; nothing was looked up. */
    FORGED
  }

  /** Without the signature, which is secret. */
  @Override
  public String toString() {
    return "callback of " + job + " on " + node + ", " + invocation;
  }
}
