package io.espalier.thrift.wire;

import io.espalier.core.config.task.StatusSource;
import io.espalier.core.json.Json;
import io.espalier.core.json.JsonWriter;
import io.espalier.core.protocol.RunId;
import io.espalier.core.protocol.TaskCommand;
import io.espalier.core.protocol.WorkBatch;
import io.espalier.core.protocol.WorkResponse;
import io.espalier.core.running.Call;
import io.espalier.core.running.InvocationLimits;
import io.espalier.core.running.LaunchSpec;
import io.espalier.core.running.Throttle;
import io.espalier.core.status.JsonDecoder;
import io.espalier.thrift.gen.WireOrder;
import io.espalier.thrift.gen.WireRecipe;
import io.espalier.thrift.gen.WireRunState;
import io.espalier.thrift.gen.WireStart;
import io.espalier.thrift.gen.WireStartRefusal;
import io.espalier.thrift.gen.WireThrottle;
import io.espalier.thrift.gen.WireWork;
import io.espalier.thrift.gen.WireWorkAnswer;
import io.espalier.thrift.gen.WireWorkVerdict;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Converts batches of work and their answers. Thread-safe; reading throws {@link
 * BadMessageException}.
 */
public final class WireWorks {
  private final JsonDecoder json;

  /**
   * @param json decoder of the JSON arguments of tasks
   */
  public WireWorks(JsonDecoder json) {
    this.json = json;
  }

  /**
   * Collects the common parts of starts, each sent once: the starts of one job differ in little
   * else.
   */
  private static final class Recipes {
    /** What a worker of the release before runs instead of a call: nothing, with a reason. */
    private static final List<String> TOO_OLD =
        List.of("/espalier: this worker is too old to make calls");

    private final List<WireRecipe> wire = new ArrayList<>();
    private final Map<JobTemplate, Integer> known = new HashMap<>();
    private @Nullable LaunchSpec last;
    private int lastIndex;

    /**
     * Launches of one job share these objects, so comparing references avoids a deep comparison
     * each time.
     */
    @SuppressWarnings("ReferenceEquality")
    int index(LaunchSpec launch) {
      if (last != null
          && last.command() == launch.command()
          && (last.call() == null) == (launch.call() == null)
          && last.subprocess() == launch.subprocess()
          && last.statusFrom() == launch.statusFrom()
          && last.kill() == launch.kill()
          && last.logs() == launch.logs()
          && last.workerSlots().equals(launch.workerSlots())) {
        return lastIndex;
      }
      last = launch;
      lastIndex =
          known.computeIfAbsent(
              new JobTemplate(
                  launch.call() == null ? launch.command() : TOO_OLD,
                  launch.statusFrom(),
                  launch.subprocess(),
                  launch.kill(),
                  launch.workerSlots(),
                  launch.logs()),
              recipe -> {
                wire.add(recipe.toWire());
                return wire.size() - 1;
              });
      return lastIndex;
    }
  }

  public static WireWork of(WorkBatch work) {
    Recipes recipes = new Recipes();
    List<WireStart> starts = new ArrayList<>(work.starts().size());
    for (LaunchSpec launch : work.starts()) {
      WireStart start =
          new WireStart(
              Wire.of(launch.job(), launch.node(), launch.invocation()),
              launch.attempt(),
              recipes.index(launch),
              JsonWriter.compact(launch.argument()),
              launch.limits().timeoutMillis(),
              launch.limits().noOutputMillis(),
              launch.limits().deadlineMillis());
      Call call = launch.call();
      if (call != null) {
        start.setCall(JsonWriter.compact(call.json()));
      }
      if (launch.batch() != 0) {
        start.setBatch(launch.batch());
      }
      starts.add(start);
    }
    return new WireWork(
        work.epoch(),
        work.session(),
        Wire.of(work.worker()),
        work.number(),
        recipes.wire,
        starts,
        Wire.each(work.orders(), WireWorks::of),
        Wire.each(work.asks(), Wire::of),
        Wire.each(work.settled(), Wire::of));
  }

  public WorkBatch work(@Nullable WireWork wire) {
    WireWork work = Wire.present(wire, "work");
    var worker = Wire.worker(work.getWorker());
    List<JobTemplate> recipes = Wire.each(work.getRecipes(), JobTemplate::of);
    List<LaunchSpec> starts = new ArrayList<>();
    for (WireStart start : Wire.each(work.getStarts(), s -> s)) {
      if (start.getRecipe() < 0 || start.getRecipe() >= recipes.size()) {
        throw new BadMessageException("a start without its recipe");
      }
      JobTemplate recipe = recipes.get(start.getRecipe());
      RunId run = Wire.run(start.getRun());
      starts.add(
          new LaunchSpec(
              run.job(),
              run.node(),
              run.invocation(),
              start.getAttempt(),
              start.isSetCall() ? List.of() : recipe.command(),
              argument(start),
              recipe.statusFrom(),
              recipe.subprocess(),
              recipe.kill(),
              limits(start),
              worker,
              recipe.workerSlots(),
              recipe.logs(),
              call(start),
              start.getBatch()));
    }
    return new WorkBatch(
        work.getEpoch(),
        work.getSession(),
        worker,
        work.getNumber(),
        starts,
        Wire.each(work.getOrders(), WireWorks::order),
        Wire.each(work.getAsks(), Wire::run),
        Wire.each(work.getSettled(), Wire::run));
  }

  private @Nullable Call call(WireStart start) {
    if (!start.isSetCall()) {
      return null;
    }
    try {
      if (json.read(start.getCall()).value() instanceof Json.Obj object) {
        return Call.of(object);
      }
    } catch (IllegalArgumentException e) {
      throw new BadMessageException(String.valueOf(e.getMessage()), e);
    }
    throw new BadMessageException("the call of a start is no JSON object");
  }

  private Json.Obj argument(WireStart start) {
    if (json.read(Wire.present(start.getArgument(), "an argument")).value()
        instanceof Json.Obj object) {
      return object;
    }
    throw new BadMessageException("the argument of a start is no JSON object");
  }

  private static InvocationLimits limits(WireStart start) {
    try {
      return new InvocationLimits(
          start.getTimeoutMillis(), start.getNoOutputMillis(), start.getDeadlineMillis());
    } catch (IllegalArgumentException e) {
      throw new BadMessageException(String.valueOf(e.getMessage()), e);
    }
  }

  private static WireOrder of(TaskCommand order) {
    WireOrder wire = new WireOrder();
    wire.setRun(Wire.of(order.run()));
    wire.setNumber(order.number());
    if (order.kill() != null) {
      wire.setKill(Wire.of(order.kill()));
    }
    wire.setExtendMillis(order.extendMillis());
    Throttle throttle = order.throttle();
    if (throttle != null) {
      WireThrottle speed = new WireThrottle();
      speed.setRatio(throttle.ratio());
      speed.setReason(throttle.reason());
      wire.setThrottle(speed);
    }
    if (order.recall()) {
      wire.setRecall(true);
    }
    return wire;
  }

  private static TaskCommand order(WireOrder wire) {
    return new TaskCommand(
        Wire.run(wire.getRun()),
        wire.getNumber(),
        wire.isSetKill() ? Wire.kill(wire.getKill()) : null,
        wire.getExtendMillis(),
        wire.isSetThrottle() ? throttle(wire.getThrottle()) : null,
        wire.isRecall());
  }

  private static Throttle throttle(WireThrottle wire) {
    try {
      return new Throttle(wire.getRatio(), wire.isSetReason() ? wire.getReason() : "");
    } catch (IllegalArgumentException e) {
      throw new BadMessageException(String.valueOf(e.getMessage()), e);
    }
  }

  public static WireWorkAnswer of(WorkResponse answer) {
    List<WireStartRefusal> refusals = new ArrayList<>();
    for (int i = 0; i < answer.starts().size(); i++) {
      WorkResponse.StartAnswer start = answer.starts().get(i);
      if (!start.accepted()) {
        refusals.add(new WireStartRefusal(i, start.reason(), start.retryAfterMillis()));
      }
    }
    return new WireWorkAnswer(
        answer.number(),
        WireWorkVerdict.valueOf(answer.verdict().name()),
        answer.epoch(),
        answer.starts().size(),
        refusals,
        Wire.each(answer.asked(), state -> WireRunState.valueOf(state.name())));
  }

  /**
   * @param sent batch that is answered; an answer that does not match it is bad
   */
  public static WorkResponse workAnswer(@Nullable WireWorkAnswer wire, WorkBatch sent) {
    WireWorkAnswer answer = Wire.present(wire, "an answer");
    WorkResponse.Verdict verdict =
        WorkResponse.Verdict.valueOf(Wire.present(answer.getVerdict(), "a verdict").name());
    boolean done = verdict == WorkResponse.Verdict.DONE;
    List<WorkResponse.RunState> asked =
        Wire.each(
            answer.getAsked(),
            state -> WorkResponse.RunState.valueOf(Wire.present(state, "a state").name()));
    if (answer.getStarts() != (done ? sent.starts().size() : 0)
        || asked.size() != (done ? sent.asks().size() : 0)) {
      throw new BadMessageException(
          "it answers another number of starts or questions than were sent");
    }
    List<WorkResponse.StartAnswer> starts = new ArrayList<>(answer.getStarts());
    for (int i = 0; i < answer.getStarts(); i++) {
      starts.add(WorkResponse.StartAnswer.ACCEPTED);
    }
    for (WireStartRefusal refusal : Wire.each(answer.getRefusals(), r -> r)) {
      if (refusal.getStart() < 0 || refusal.getStart() >= starts.size()) {
        throw new BadMessageException("it refuses a start that was not sent");
      }
      starts.set(
          refusal.getStart(),
          WorkResponse.StartAnswer.refused(
              Wire.text(refusal.getReason()), refusal.getRetryAfterMillis()));
    }
    return new WorkResponse(answer.getNumber(), verdict, answer.getEpoch(), starts, asked);
  }

  static StatusSource statusFrom(@Nullable String word) {
    return Wire.word(StatusSource.values(), StatusSource::label, word, "source of a status");
  }
}
