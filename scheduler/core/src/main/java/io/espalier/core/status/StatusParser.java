package io.espalier.core.status;

import io.espalier.core.config.task.StatusSource;
import io.espalier.core.json.Json;
import io.espalier.core.problem.Problem;
import io.espalier.core.problem.Result;
import io.espalier.core.running.StopReason;
import io.espalier.core.running.TaskResult;
import io.espalier.core.status.TaskStatus.Main;
import io.espalier.core.text.ShortText;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Parses what tasks write to their status pipe (docs/design/bistro.md#what-a-task-writes): a label,
 * or a JSON object with {@code result_bits} or {@code result} and optional {@code data}. Parsing is
 * strict: anything that a task must not write becomes an error with back-off that explains and
 * quotes it. Thread-safe if the port is.
 */
public final class StatusParser {
  /** Longer text is refused unread. */
  public static final int MAX_LENGTH = 1 << 20;

  private static final int QUOTED = 200;
  private static final int FOREIGN =
      Main.UNSTARTED.bit()
          | TaskStatus.AVOIDED
          | TaskStatus.DISABLED
          | TaskStatus.OVERWRITEABLE
          | TaskStatus.HAS_SAVED_BACKOFF;
  private static final String SAVED_BACKOFF = "__bistro_saved_backoff";
  private static final String LABELS =
      "done, incomplete, incomplete_backoff, error_backoff, backoff or failed";

  private final JsonDecoder json;

  public StatusParser(JsonDecoder json) {
    this.json = json;
  }

  /** Converts an end to its event: {@code Ended}, {@code NotStarted} or {@code WorkerLost}. */
  public TaskEvent meaning(TaskResult end, StatusSource from) {
    return switch (end.kind()) {
      case NOT_STARTED ->
          new TaskEvent.NotStarted(
              "not started: " + messageOf(end), (int) ((end.retryAfterMillis() + 999) / 1000));
      case START_FAILED ->
          new TaskEvent.Ended(ParsedStatus.error("could not be started: " + messageOf(end)));
      // The task is dead when this end is created, so its back-off is the only wait.
      case LOST -> new TaskEvent.WorkerLost("", "worker lost: " + messageOf(end), 0);
      case CALL_FAILED -> new TaskEvent.Ended(ParsedStatus.error(messageOf(end)));
      case OUTCOME_UNKNOWN ->
          new TaskEvent.Ended(
              ParsedStatus.FAILED.withData(
                  Json.object()
                      .put(ParsedStatus.EXCEPTION, "outcome unknown: " + messageOf(end))
                      .build()));
      case EXITED, KILLED -> {
        boolean silent = from == StatusSource.EXIT_CODE || end.rawStatus() == null;
        if (silent && StopReasonRules.isNoFaultOfTheTask(end.stopReason())) {
          yield new TaskEvent.Interrupted(StopReasonRules.sentence(end) + ": " + howItEnded(end));
        }
        yield new TaskEvent.Ended(from == StatusSource.EXIT_CODE ? fromExit(end) : fromLine(end));
      }
    };
  }

  private static String messageOf(TaskResult end) {
    return end.message() == null ? "no reason given" : shortened(end.message());
  }

  private static ParsedStatus fromExit(TaskResult end) {
    if (StopReasonRules.isError(end.stopReason())) {
      return stoppedForAnError(end);
    }
    boolean killed = end.kind() == TaskResult.Kind.KILLED;
    // Many programs handle TERM by cleaning up and exiting with 0: that does not mean done.
    if (killed) {
      return ParsedStatus.killed(whyKilled(end, "killed: ") + howItEnded(end));
    }
    Integer code = end.exitCode();
    if (code != null && code == 0) {
      return ParsedStatus.DONE;
    }
    Json.Builder data = Json.object().put(ParsedStatus.EXCEPTION, whyItFailed(end));
    if (code != null) {
      data.put("exit_code", code);
    }
    if (end.signal() != null) {
      data.put("signal", end.signal());
    }
    return ParsedStatus.ERROR_BACKOFF.withData(data.build());
  }

  private ParsedStatus fromLine(TaskResult end) {
    if (end.rawStatus() != null) {
      return read(end.rawStatus());
    }
    if (StopReasonRules.isError(end.stopReason())) {
      return stoppedForAnError(end);
    }
    return end.kind() == TaskResult.Kind.KILLED
        ? ParsedStatus.killed(whyKilled(end, "killed before it wrote a status: ") + howItEnded(end))
        : ParsedStatus.error(
            hasFailed(end) && end.lastErrorLine() != null
                ? whyItFailed(end)
                : "wrote no status: " + howItEnded(end));
  }

  private static ParsedStatus stoppedForAnError(TaskResult end) {
    Json.Obj data =
        Json.object()
            .put(ParsedStatus.EXCEPTION, StopReasonRules.sentence(end) + ": " + howItEnded(end))
            .put(StopReasonRules.KEY, StopReasonRules.word(end.stopReason()))
            .build();
    return ParsedStatus.error(data);
  }

  private static String whyKilled(TaskResult end, String otherwise) {
    return end.stopReason() == StopReason.OVER_LIMIT
        ? StopReasonRules.sentence(end) + ": "
        : otherwise;
  }

  /** Returns true when its exit code or signal means failure, whatever status it wrote. */
  private static boolean hasFailed(TaskResult end) {
    return end.signal() != null || (end.exitCode() != null && end.exitCode() != 0);
  }

  /**
   * The cause of a failure: the last line of its error output, preceded by the signal if there was
   * one; without such a line, how the process ended.
   */
  static String whyItFailed(TaskResult end) {
    String line = end.lastErrorLine();
    if (line == null) {
      return howItEnded(end);
    }
    return end.signal() == null ? line : howItEnded(end) + ": " + line;
  }

  static String howItEnded(TaskResult end) {
    if (end.signal() != null) {
      return "ended by signal " + end.signal();
    }
    return end.exitCode() == null ? "ended" : "exited with code " + end.exitCode();
  }

  /**
   * Parses a status line; an invalid line becomes an error with back-off.
   *
   * @param line a line without its newline
   */
  public ParsedStatus read(String line) {
    ParsedStatus byLabel = ofLabel(line);
    if (byLabel != null) {
      return byLabel;
    }
    if (line.length() > MAX_LENGTH) {
      return refused("status is longer than " + MAX_LENGTH + " characters", line);
    }
    if (!line.stripLeading().startsWith("{")) {
      return refused(
          line.isEmpty() ? "status is empty" : "status is neither a JSON object nor " + LABELS,
          line);
    }
    Result<Json> parsed = json.read(line);
    if (parsed.value() instanceof Json.Obj object && !parsed.hasErrors()) {
      return ofObject(object, line);
    }
    return refused("status is not a JSON object: " + firstProblem(parsed.problems()), line);
  }

  private static String firstProblem(List<Problem> problems) {
    return problems.isEmpty() ? "no reason given" : problems.get(0).message();
  }

  private static @Nullable ParsedStatus ofLabel(String label) {
    return switch (label) {
      case "done" -> ParsedStatus.DONE;
      case "incomplete" -> ParsedStatus.INCOMPLETE;
      case "incomplete_backoff" -> ParsedStatus.INCOMPLETE_BACKOFF;
      case "error_backoff", "backoff" -> ParsedStatus.ERROR_BACKOFF;
      case "failed" -> ParsedStatus.FAILED;
      default -> null;
    };
  }

  private static ParsedStatus ofObject(Json.Obj status, String line) {
    Json data = status.get("data");
    if (data != null && !(data instanceof Json.Obj)) {
      return refused("data must be an object, not " + data.kind(), line);
    }
    Json bits = status.get("result_bits");
    Json result = status.get("result");
    ParsedStatus report;
    if (bits != null) {
      Integer number = intValue(bits);
      String wrong = number == null ? "result_bits must be an integer" : wrongBits(number);
      if (number == null || wrong != null) {
        return refused(String.valueOf(wrong), line);
      }
      report = ofBits(number);
    } else if (result instanceof Json.Str label) {
      report = ofLabel(label.value());
    } else {
      report = null;
    }
    if (report == null) {
      return refused(
          result == null
              ? "status has neither result_bits nor result"
              : "result must be " + LABELS + ", not " + shortened(result.toString()),
          line);
    }
    return report.withData(data == null ? null : ownData((Json.Obj) data));
  }

  /** Returns the integer, which Bistro takes in text too; null for anything else. */
  private static @Nullable Integer intValue(Json value) {
    if (value instanceof Json.Str text) {
      String digits = text.value().strip();
      return digits.matches("[-+]?[0-9]{1,9}") ? Integer.valueOf(digits) : null;
    }
    if (value instanceof Json.Num number) {
      try {
        return number.value().intValueExact();
      } catch (ArithmeticException notAnInt) {
        return null;
      }
    }
    return null;
  }

  private static @Nullable String wrongBits(int bits) {
    int main = bits & 63;
    if ((bits & ~StatusBits.ALL) != 0) {
      return "result_bits " + bits + " has bits that do not exist";
    }
    if ((bits & FOREIGN) != 0) {
      return "result_bits " + bits + " has bits that only the scheduler sets";
    }
    if (Integer.bitCount(main) != 1) {
      return "result_bits " + bits + " must have exactly one of 4, 8, 16, 32";
    }
    if (main == Main.RUNNING.bit()) {
      return "result_bits " + bits + " says running, but the task has ended";
    }
    if (main == Main.INCOMPLETE.bit()
        && (bits & TaskStatus.USES_BACKOFF) != 0
        && (bits & TaskStatus.DOES_NOT_ADVANCE_BACKOFF) == 0) {
      return "result_bits " + bits + " would use up back-off without an error; use 584 or 96";
    }
    return null;
  }

  /**
   * Parses bits. The back-off flags only matter where there is a wait; otherwise they have no
   * effect.
   */
  private static ParsedStatus ofBits(int bits) {
    boolean uses = (bits & TaskStatus.USES_BACKOFF) != 0;
    boolean holds = uses && (bits & TaskStatus.DOES_NOT_ADVANCE_BACKOFF) != 0;
    if ((bits & Main.DONE.bit()) != 0) {
      return ParsedStatus.DONE;
    }
    if ((bits & Main.FAILED.bit()) != 0) {
      return ParsedStatus.FAILED;
    }
    Main main = (bits & Main.ERROR.bit()) != 0 ? Main.ERROR : Main.INCOMPLETE;
    return new ParsedStatus(main, uses, holds, null, false);
  }

  /** The task's data as stored: without the private keys and without positions in the text. */
  private static Json.@Nullable Obj ownData(Json.Obj data) {
    Json.Obj own =
        (Json.Obj)
            JsonDecoder.withoutPositions(
                data.without(SAVED_BACKOFF)
                    .without(TaskStatus.CHECKPOINT_KEY)
                    .without(TaskStatus.FAILURE_KEY)
                    .without(TaskStatus.RETRIES_KEY)
                    .without(TaskStatus.STEP_KEY));
    return own.isEmpty() ? null : own;
  }

  private static ParsedStatus refused(String why, String line) {
    return ParsedStatus.error(why + "; the task wrote: " + shortened(line));
  }

  /** At most {@value #QUOTED} characters, never half a surrogate pair. */
  static String shortened(String text) {
    return text.length() <= QUOTED
        ? text
        : ShortText.cut(text, QUOTED) + "… (" + text.length() + " characters)";
  }
}
