package io.espalier.core.api.view;

import io.espalier.core.running.Call;
import io.espalier.core.running.CallPoll;
import org.jspecify.annotations.Nullable;

/**
 * What is known of a running call.
 *
 * @param executor the kind of call, such as {@code http}
 * @param awaitsCallback whether its service is expected to report its end; otherwise it is asked
 * @param unknownHoldMillis how long the service may confirm nothing before the outcome counts as
 *     unknown
 * @param poll how it was last asked about, or why it is in doubt; null: neither, as far as is known
 */
public record RunningCall(
    String executor, boolean awaitsCallback, long unknownHoldMillis, @Nullable CallPoll poll) {
  /** Returns what is known of a call. */
  public static RunningCall of(Call call, @Nullable CallPoll poll) {
    return new RunningCall(
        call.spec().executor(),
        !call.callback().isEmpty(),
        call.spec().unknownHold().toMillis(),
        poll);
  }
}
