package io.espalier.thrift.wire;

import io.espalier.core.config.StatusFrom;
import io.espalier.core.json.Json;
import io.espalier.core.json.JsonWriter;
import io.espalier.core.protocol.Order;
import io.espalier.core.protocol.RunId;
import io.espalier.core.protocol.Work;
import io.espalier.core.protocol.WorkAnswer;
import io.espalier.core.running.Launch;
import io.espalier.core.running.Limits;
import io.espalier.core.status.JsonText;
import io.espalier.thrift.gen.WireOrder;
import io.espalier.thrift.gen.WireRecipe;
import io.espalier.thrift.gen.WireRunState;
import io.espalier.thrift.gen.WireStart;
import io.espalier.thrift.gen.WireStartRefusal;
import io.espalier.thrift.gen.WireWork;
import io.espalier.thrift.gen.WireWorkAnswer;
import io.espalier.thrift.gen.WireWorkVerdict;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Batches of work and their answers. Thread-safe; reading throws {@link BadMessage}. */
public final class WireWorks {
  private final JsonText json;

  /**
   * @param json reads the JSON arguments of tasks
   */
  public WireWorks(JsonText json) {
    this.json = json;
  }

  /** Starts of one job differ in little: the rest is said once. */
  private static final class Recipes {
    private final List<WireRecipe> wire = new ArrayList<>();
    private final Map<Recipe, Integer> known = new HashMap<>();
    private @Nullable Launch last;
    private int lastIndex;

    /** Launches of one job share these objects: comparing them deeply each time would be waste. */
    @SuppressWarnings("ReferenceEquality")
    int index(Launch launch) {
      if (last != null
          && last.command() == launch.command()
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
              new Recipe(
                  launch.command(),
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

  public static WireWork of(Work work) {
    Recipes recipes = new Recipes();
    List<WireStart> starts = new ArrayList<>(work.starts().size());
    for (Launch launch : work.starts()) {
      starts.add(
          new WireStart(
              Wire.of(launch.job(), launch.node(), launch.invocation()),
              launch.attempt(),
              recipes.index(launch),
              JsonWriter.compact(launch.argument()),
              launch.limits().timeoutMillis(),
              launch.limits().noOutputMillis(),
              launch.limits().deadlineMillis()));
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

  public Work work(@Nullable WireWork wire) {
    WireWork work = Wire.present(wire, "work");
    var worker = Wire.worker(work.getWorker());
    List<Recipe> recipes = Wire.each(work.getRecipes(), Recipe::of);
    List<Launch> starts = new ArrayList<>();
    for (WireStart start : Wire.each(work.getStarts(), s -> s)) {
      if (start.getRecipe() < 0 || start.getRecipe() >= recipes.size()) {
        throw new BadMessage("a start without its recipe");
      }
      Recipe recipe = recipes.get(start.getRecipe());
      RunId run = Wire.run(start.getRun());
      starts.add(
          new Launch(
              run.job(),
              run.node(),
              run.invocation(),
              start.getAttempt(),
              recipe.command(),
              argument(start),
              recipe.statusFrom(),
              recipe.subprocess(),
              recipe.kill(),
              limits(start),
              worker,
              recipe.workerSlots(),
              recipe.logs()));
    }
    return new Work(
        work.getEpoch(),
        work.getSession(),
        worker,
        work.getNumber(),
        starts,
        Wire.each(work.getOrders(), WireWorks::order),
        Wire.each(work.getAsks(), Wire::run),
        Wire.each(work.getSettled(), Wire::run));
  }

  private Json.Obj argument(WireStart start) {
    if (json.read(Wire.present(start.getArgument(), "an argument")).value()
        instanceof Json.Obj object) {
      return object;
    }
    throw new BadMessage("the argument of a start is no JSON object");
  }

  private static Limits limits(WireStart start) {
    try {
      return new Limits(
          start.getTimeoutMillis(), start.getNoOutputMillis(), start.getDeadlineMillis());
    } catch (IllegalArgumentException e) {
      throw new BadMessage(String.valueOf(e.getMessage()), e);
    }
  }

  private static WireOrder of(Order order) {
    WireOrder wire = new WireOrder();
    wire.setRun(Wire.of(order.run()));
    wire.setNumber(order.number());
    if (order.kill() != null) {
      wire.setKill(Wire.of(order.kill()));
    }
    wire.setExtendMillis(order.extendMillis());
    return wire;
  }

  private static Order order(WireOrder wire) {
    return new Order(
        Wire.run(wire.getRun()),
        wire.getNumber(),
        wire.isSetKill() ? Wire.kill(wire.getKill()) : null,
        wire.getExtendMillis());
  }

  public static WireWorkAnswer of(WorkAnswer answer) {
    List<WireStartRefusal> refusals = new ArrayList<>();
    for (int i = 0; i < answer.starts().size(); i++) {
      WorkAnswer.StartAnswer start = answer.starts().get(i);
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
   * @param sent what is answered: an answer that does not fit it is bad
   */
  public static WorkAnswer workAnswer(@Nullable WireWorkAnswer wire, Work sent) {
    WireWorkAnswer answer = Wire.present(wire, "an answer");
    WorkAnswer.Verdict verdict =
        WorkAnswer.Verdict.valueOf(Wire.present(answer.getVerdict(), "a verdict").name());
    boolean done = verdict == WorkAnswer.Verdict.DONE;
    List<WorkAnswer.RunState> asked =
        Wire.each(
            answer.getAsked(),
            state -> WorkAnswer.RunState.valueOf(Wire.present(state, "a state").name()));
    if (answer.getStarts() != (done ? sent.starts().size() : 0)
        || asked.size() != (done ? sent.asks().size() : 0)) {
      throw new BadMessage("it answers another number of starts or questions than were sent");
    }
    List<WorkAnswer.StartAnswer> starts = new ArrayList<>(answer.getStarts());
    for (int i = 0; i < answer.getStarts(); i++) {
      starts.add(WorkAnswer.StartAnswer.ACCEPTED);
    }
    for (WireStartRefusal refusal : Wire.each(answer.getRefusals(), r -> r)) {
      if (refusal.getStart() < 0 || refusal.getStart() >= starts.size()) {
        throw new BadMessage("it refuses a start that was not sent");
      }
      starts.set(
          refusal.getStart(),
          WorkAnswer.StartAnswer.refused(
              Wire.text(refusal.getReason()), refusal.getRetryAfterMillis()));
    }
    return new WorkAnswer(answer.getNumber(), verdict, answer.getEpoch(), starts, asked);
  }

  static StatusFrom statusFrom(@Nullable String word) {
    return Wire.word(StatusFrom.values(), StatusFrom::label, word, "source of a status");
  }
}
