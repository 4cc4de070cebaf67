package io.espalier.core.call;

import io.espalier.core.json.Json;
import io.espalier.core.running.Call;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.function.BooleanSupplier;

/**
 * Makes the calls of one kind: the seam for plug-ins (docs/calls.md#other-kinds-of-calls). Methods
 * are called by one thread, must not block it, and never throw: whatever goes wrong is an answer.
 * Answers come on any thread, one for each request.
 */
public interface CallClient extends AutoCloseable {
  /** Returns the name by which jobs choose it. */
  String executor();

  /**
   * Returns a line for people that says what a call calls.
   *
   * @throws IllegalArgumentException when its options cannot be used
   */
  String description(Call call);

  /**
   * Returns what requests of a call go to, such as a host and port. What many calls of one service
   * leave unanswered does not delay those of others. It is asked for calls with a {@link
   * #description}.
   */
  default String service(Call call) {
    return executor();
  }

  /**
   * Checks the options of a job's calls, when its configuration is read; placeholders stand for
   * nothing yet.
   *
   * @return what is wrong, by the name of the option; empty: nothing is known to be wrong
   */
  default Map<String, String> objections(Json.Obj options) {
    return Map.of();
  }

  /**
   * Sends a call. The implementation sends it at most once, and follows no redirection. It replaces
   * the placeholders of its options itself, with {@link Call#names}. Once the first byte is sent,
   * what goes wrong is {@code Unknown}; before, {@code NotStarted}.
   *
   * @param argument the JSON argument of the task, as processes get it
   * @param maySend asked right before the first byte is sent, on any thread; if it returns false,
   *     nothing is sent, and the answer is {@code NotStarted} with a wait of at least 1 ms, which
   *     makes it no attempt
   */
  CompletionStage<CallAnswer> start(Call call, Json.Obj argument, BooleanSupplier maySend);

  /** Returns whether the service of a call can be asked for its state. */
  boolean canPoll(Call call);

  /**
   * Asks for the state of a call; changes nothing.
   *
   * @param handle what the service called it; empty: unknown
   */
  CompletionStage<CallAnswer> poll(Call call, String handle);

  /** Returns whether the service of a call can be told to cancel it. */
  boolean canCancel(Call call);

  /** Requests that a call be cancelled; may be repeated. */
  CompletionStage<CallAnswer> cancel(Call call, String handle);

  /** Returns how often a running call is asked about. */
  PollPace pace(Call call);

  /** Returns whether an answer {@code NotFound} proves that a call was never carried out. */
  boolean provesAbsence(Call call);

  @Override
  void close();

  /**
   * How often a running call is asked about.
   *
   * @param firstMillis wait before the second question; each later one is half as long again
   * @param mostMillis longest wait
   */
  record PollPace(long firstMillis, long mostMillis) {
    public PollPace {
      if (firstMillis < 1 || mostMillis < firstMillis) {
        throw new IllegalArgumentException(firstMillis + " to " + mostMillis + " ms");
      }
    }
  }
}
