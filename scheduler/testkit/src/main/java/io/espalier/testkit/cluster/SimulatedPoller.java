package io.espalier.testkit.cluster;

import io.espalier.core.loop.LoopInput;
import io.espalier.core.loop.health.ProbeAnswer;
import io.espalier.core.loop.health.ProbeAnswer.Sample;
import java.util.List;
import java.util.TreeSet;
import java.util.function.Consumer;

/** Asks the probe for a leader, again and again, and knows what the leader was told. */
final class SimulatedPoller {
  private final SimulatedScheduler process;
  private final ProbeTrouble source;
  private final Consumer<LoopInput> loop;

  /** When values were sampled that the loop was given. */
  private final TreeSet<Long> sampled = new TreeSet<>();

  private List<Sample> last = List.of();

  SimulatedPoller(SimulatedScheduler process, ProbeTrouble source, Consumer<LoopInput> loop) {
    this.process = process;
    this.source = source;
    this.loop = loop;
  }

  void ask() {
    long now = process.localNow();
    List<Sample> answer = source.answer(now);
    process.later(
        source.pause(),
        () -> {
          if (answer != null) {
            sampled.add(now);
            last = answer;
          }
          give(answer == null ? failed(now) : answer);
        });
  }

  /** Returns what counts as the answer when there is none. */
  private List<Sample> failed(long nowMillis) {
    return process.cluster.has(ProtocolBug.OLD_VALUES_AS_NEW)
        ? last.stream().map(old -> new Sample(old.node(), old.value(), nowMillis)).toList()
        : List.of();
  }

  private void give(List<Sample> samples) {
    String problem = samples.isEmpty() ? "it does not answer" : "";
    loop.accept(new LoopInput.Probed(new ProbeAnswer(ProbeTrouble.NAME, samples, problem)));
    process.poke();
    process.later(source.pause(), this::ask);
  }

  /** Returns whether the loop was given a value that was not too old at that instant. */
  boolean hadValue(long atMillis) {
    Long newest = sampled.floor(atMillis);
    return newest != null && atMillis - newest <= ProbeTrouble.MAX_AGE_MILLIS;
  }
}
