package io.espalier.core.loop;

import io.espalier.core.api.Callback;
import io.espalier.core.api.Command;
import io.espalier.core.api.RefusedException;
import io.espalier.core.call.CallAnswer;
import io.espalier.core.call.CallClient;
import io.espalier.core.call.CallCourse;
import io.espalier.core.config.task.CallSpec;
import io.espalier.core.json.Json;
import io.espalier.core.loop.CallSimulation.Mistake;
import io.espalier.core.loop.CallSimulation.Property;
import io.espalier.core.loop.CallSimulation.Trouble;
import io.espalier.core.loop.CallSimulation.Violation;
import io.espalier.core.running.Call;
import io.espalier.core.running.LaunchSpec;
import io.espalier.core.status.TaskKey;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.function.BooleanSupplier;

/**
 * The services of a {@link CallSimulation}: what they do with the calls that reach them, and what
 * they can. Each job has a service with other faults.
 */
final class SimulatedServices implements CallClient {
  /** The job whose service can only call back. */
  static final String ONLY = "only";

  private final LoopWorld world;
  private final CallFate fate;
  private final Mistake mistake;
  private final Map<String, Work> works = new HashMap<>();
  private final Map<String, Work> byKey = new HashMap<>();
  private final Set<String> refused = new HashSet<>();
  private final Set<String> begun = new HashSet<>();

  /** Work of a service. */
  private static final class Work {
    final TaskKey task;
    boolean runs = true;
    boolean isForgotten;
    String status = "done";

    Work(TaskKey task) {
      this.task = task;
    }
  }

  SimulatedServices(LoopWorld world, CallFate fate, Mistake mistake) {
    this.world = world;
    this.fate = fate;
    this.mistake = mistake;
  }

  /**
   * Receives a call.
   *
   * @throws CallSimulation.Violation when it must not have been sent
   */
  CallAnswer begin(Call call, TaskKey task) {
    String id = call.name(CallSpec.INVOCATION);
    String key = call.spec().idempotent() ? call.name(CallSpec.KEY) : "";
    if (refused.contains(id) || fate.happens(0.05, Trouble.REFUSED)) {
      return new CallAnswer.NotStarted("HTTP 429", 1_000);
    }
    Work known = byKey.get(key);
    if (known != null) {
      works.put(id, known);
      return stands(known);
    }
    if (!begun.add(id)) {
      throw new Violation(Property.SENT_ONCE, task + " as " + id);
    }
    for (Work other : works.values()) {
      if (other.task.equals(task) && other.runs) {
        throw new Violation(Property.NEVER_TWICE_AT_ONCE, task.toString());
      }
    }
    Work work = new Work(task);
    works.put(id, work);
    if (!key.isEmpty()) {
      byKey.put(key, work);
    }
    boolean isEasy = fate.isHealed() || !key.isEmpty() || fate.fraction() < 0.6;
    String status = isEasy ? "done" : fate.fraction() < 0.5 ? "incomplete" : "error_backoff";
    fate.at(1 + fate.below(60_000), () -> finish(call, work, status));
    return CallAnswer.Running.PLAIN;
  }

  private void finish(Call call, Work work, String status) {
    if (!work.runs) {
      return;
    }
    work.runs = false;
    work.status = status;
    boolean mayForget = !call.name(CallSpec.JOB).equals("proves");
    if (mayForget && fate.happens(0.05, Trouble.FORGOTTEN)) {
      fate.at(fate.below(20_000), () -> work.isForgotten = true);
    }
    if (call.spec().callback().isEmpty()) {
      return;
    }
    if (fate.isHealed() || fate.fraction() < 0.9) {
      report(call, status, fate.below(fate.isHealed() ? 1_000 : 20_000), 5);
    }
    if (fate.happens(0.2, Trouble.REPORTED_TWICE)) {
      report(call, status, fate.below(100_000), 1);
    }
    if (fate.happens(0.2, Trouble.REPORTED_OTHERWISE)) {
      report(call, "failed", 20_000 + fate.below(100_000), 1);
    }
  }

  /** Reports an end; repeated while the scheduler cannot take it. */
  private void report(Call call, String status, long after, int times) {
    fate.at(
        after,
        () -> {
          fate.count(Trouble.REPORTED);
          TaskKey task = new TaskKey(call.name(CallSpec.JOB), call.name(CallSpec.NODE));
          LaunchSpec alive = world.running.get(task);
          Call named =
              mistake == Mistake.REPORT_FOR_ANY && alive != null
                  ? Objects.requireNonNull(alive.call())
                  : call;
          CompletableFuture<Boolean> answer = new CompletableFuture<>();
          world.post(
              new LoopInput.Execute<>(
                  new Command.Report(
                      new Callback(
                          task.job(),
                          task.node(),
                          named.name(CallSpec.INVOCATION),
                          "",
                          Json.object().put("result", status).build())),
                  answer));
          world.settle();
          try {
            boolean unused = answer.join();
          } catch (CompletionException e) {
            if (!(e.getCause() instanceof RefusedException)) {
              throw e;
            }
            if (times > 1) {
              report(call, status, 2_000, times - 1);
            }
          }
        });
  }

  /** Receives a question about a call, or its cancellation. */
  CallAnswer asked(Call call, CallCourse.Request request) {
    String id = call.name(CallSpec.INVOCATION);
    Work work = works.get(id);
    if (work == null || work.isForgotten) {
      if (call.name(CallSpec.JOB).equals("proves")) {
        refused.add(id);
      }
      return new CallAnswer.NotFound("HTTP 404");
    }
    if (request == CallCourse.Request.CANCEL && work.runs) {
      work.runs = false;
      work.status = "";
    }
    return stands(work);
  }

  private static CallAnswer stands(Work work) {
    return work.runs
        ? CallAnswer.Running.PLAIN
        : work.status.isEmpty() ? new CallAnswer.Cancelled() : new CallAnswer.Ended(work.status);
  }

  // ---- what the services can do

  @Override
  public String executor() {
    return "http";
  }

  @Override
  public String description(Call call) {
    return "simulated";
  }

  @Override
  public CompletionStage<CallAnswer> start(Call call, Json.Obj argument, BooleanSupplier maySend) {
    throw new AssertionError("the simulation sends");
  }

  @Override
  public boolean canPoll(Call call) {
    return !call.name(CallSpec.JOB).equals(ONLY);
  }

  @Override
  public CompletionStage<CallAnswer> poll(Call call, String handle) {
    throw new AssertionError("the simulation asks");
  }

  @Override
  public boolean canCancel(Call call) {
    return !call.name(CallSpec.JOB).equals("again");
  }

  @Override
  public CompletionStage<CallAnswer> cancel(Call call, String handle) {
    throw new AssertionError("the simulation cancels");
  }

  @Override
  public PollPace pace(Call call) {
    return new PollPace(1_000, 8_000);
  }

  @Override
  public boolean provesAbsence(Call call) {
    return mistake == Mistake.ABSENCE_PROVES || call.name(CallSpec.JOB).equals("proves");
  }

  @Override
  public void close() {}
}
