package io.espalier.core.call;

import io.espalier.core.json.Json;
import io.espalier.core.json.JsonWriter;
import io.espalier.core.running.Counters;
import org.jspecify.annotations.Nullable;

/** What is known after one request to a service: about its start, its state or its cancellation. */
public sealed interface CallAnswer {
  /** The status line of a task whose service says nothing more. */
  String DONE = "done";

  /**
   * Returns what an object means with which a service answers a question or reports by itself: its
   * {@code result}, or the end of a task that is done, or, with nothing but {@code progress}, that
   * it goes on.
   */
  static CallAnswer of(Json.Obj said) {
    Ended end = ended(said);
    return end.status().equals(DONE) && said.get("progress") instanceof Json.Obj progress
        ? new Running("", progress, counters(said))
        : end;
  }

  /** Returns the end that an object means; without {@code result} the task is done. */
  static Ended ended(Json.Obj said) {
    boolean says = said.get("result") != null || said.get("result_bits") != null;
    return new Ended(says ? JsonWriter.compact(said) : DONE, counters(said));
  }

  /**
   * Returns what an object of a service says that the call has counted since its start; what cannot
   * be used does not count.
   */
  static Counters counters(Json.Obj said) {
    return Counters.read(said.get("count")).counters();
  }

  /**
   * The service says that the invocation has ended.
   *
   * @param status a status line, as a process would write it
   * @param counters what the call has counted since its start
   */
  record Ended(String status, Counters counters) implements CallAnswer {
    /** Creates the answer of a service that has counted nothing. */
    public Ended(String status) {
      this(status, Counters.NONE);
    }
  }

  /**
   * The service says that the invocation runs, or that it is being cancelled.
   *
   * @param handle what the service calls it; empty: it did not say, the earlier one stays
   * @param progress its progress object; null: it did not say
   * @param counters what the call has counted since its start
   */
  record Running(String handle, Json.@Nullable Obj progress, Counters counters)
      implements CallAnswer {
    public static final Running PLAIN = new Running("", null);

    /** Creates the answer of a service that has counted nothing. */
    public Running(String handle, Json.@Nullable Obj progress) {
      this(handle, progress, Counters.NONE);
    }
  }

  /** The service has confirmed that the invocation was cancelled, and does not run. */
  record Cancelled() implements CallAnswer {}

  /** The service says that the invocation has failed. */
  record Failed(String message) implements CallAnswer {}

  /**
   * The request has not reached the service, or the service refused it without carrying it out.
   *
   * @param retryAfterMillis how long the service asks to wait; 0: it did not say, so the task is at
   *     fault, or the address
   */
  record NotStarted(String message, long retryAfterMillis) implements CallAnswer {}

  /** The service says that it does not know the invocation. */
  record NotFound(String message) implements CallAnswer {}

  /** The request may have been carried out: the connection was lost, or nobody answered in time. */
  record Unknown(String message) implements CallAnswer {}
}
