package io.espalier.core.api.view;

import io.espalier.core.running.Call;

/**
 * What is known of a running call without asking who makes it.
 *
 * @param executor the kind of call, such as {@code http}
 * @param awaitsCallback whether its service is expected to report its end; otherwise it is asked
 * @param unknownHoldMillis how long the service may confirm nothing before the outcome counts as
 *     unknown
 */
public record RunningCall(String executor, boolean awaitsCallback, long unknownHoldMillis) {
  /** Returns what is known of a call. */
  public static RunningCall of(Call call) {
    return new RunningCall(
        call.spec().executor(), !call.callback().isEmpty(), call.spec().unknownHold().toMillis());
  }
}
