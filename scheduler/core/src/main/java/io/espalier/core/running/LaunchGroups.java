package io.espalier.core.running;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/** Hands on launches in their order, consecutive ones of one batch together. Not thread-safe. */
public final class LaunchGroups {
  private final Consumer<LaunchSpec> alone;
  private final Consumer<List<LaunchSpec>> together;
  private final List<LaunchSpec> waiting = new ArrayList<>();

  /**
   * @param alone receives a launch that has no other of its batch beside it
   * @param together receives two or more launches of one batch, in an immutable list
   */
  public LaunchGroups(Consumer<LaunchSpec> alone, Consumer<List<LaunchSpec>> together) {
    this.alone = alone;
    this.together = together;
  }

  /** Adds a launch; {@link #end} must follow the last one. */
  public void add(LaunchSpec launch) {
    if (!waiting.isEmpty() && !waiting.get(0).isWith(launch)) {
      end();
    }
    if (launch.batch() == 0) {
      alone.accept(launch);
    } else {
      waiting.add(launch);
    }
  }

  /** Hands on what waits for more of its batch. */
  public void end() {
    List<LaunchSpec> members = List.copyOf(waiting);
    waiting.clear();
    if (members.size() == 1) {
      alone.accept(members.get(0));
    } else if (!members.isEmpty()) {
      together.accept(members);
    }
  }
}
