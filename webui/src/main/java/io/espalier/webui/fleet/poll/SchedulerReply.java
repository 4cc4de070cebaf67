package io.espalier.webui.fleet.poll;

import io.espalier.core.json.Json;
import io.espalier.core.problem.Result;
import io.espalier.core.text.ShortText;
import io.espalier.json.JsonReader;
import org.jspecify.annotations.Nullable;

/** The HTTP answer of a scheduler. */
public final class SchedulerReply {
  private static final int LONGEST_DETAIL = 300;

  private final int status;
  private final byte[] body;

  SchedulerReply(int status, byte[] body) {
    this.status = status;
    this.body = body;
  }

  public int status() {
    return status;
  }

  int bytes() {
    return body.length;
  }

  public boolean isOk() {
    return status / 100 == 2;
  }

  /**
   * Returns the body of a successful answer.
   *
   * @throws SchedulerUnreachableException for an error, and for a body that is not JSON
   */
  public Json json() {
    if (!isOk()) {
      throw failure();
    }
    Json json = parsed();
    if (json == null) {
      throw new SchedulerUnreachableException(
          FleetSchedulerState.ERROR, true, "the answer is not JSON: is it a scheduler?");
    }
    return json;
  }

  /** Translates an error answer. */
  SchedulerUnreachableException failure() {
    if (status == 401) {
      return new SchedulerUnreachableException(
          FleetSchedulerState.REFUSED, true, "it wants a token that it knows (401)");
    }
    if (status == 403) {
      return new SchedulerUnreachableException(
          FleetSchedulerState.REFUSED, true, "refused (403): " + detail());
    }
    if (status / 100 == 3) {
      return new SchedulerUnreachableException(
          FleetSchedulerState.ERROR, true, "it says that another one is to be asked");
    }
    return new SchedulerUnreachableException(
        FleetSchedulerState.ERROR, true, "status " + status + ": " + detail());
  }

  /** Returns the detail of an RFC 9457 document, or a note that there is none. */
  public String detail() {
    String detail =
        parsed() instanceof Json.Obj o && o.get("detail") instanceof Json.Str s
            ? s.value()
            : "it says no more";
    return ShortText.shown(detail, LONGEST_DETAIL);
  }

  private @Nullable Json parsed() {
    Result<Json> read = JsonReader.strict().read(body);
    return read.hasErrors() ? null : read.value();
  }
}
