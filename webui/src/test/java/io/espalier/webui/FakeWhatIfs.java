package io.espalier.webui;

import io.espalier.webui.whatif.WhatIfRunner;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;

/** Runs no processes: a run ends at once with {@link #next}, or hangs until it is killed. */
final class FakeWhatIfs implements WhatIfRunner {
  private static final String FORECAST =
      "{\"complete\":true,\"runs\":5,\"p50_ms\":9000,\"p90_ms\":9500,"
          + "\"jobs\":{\"backup\":{\"p50_ms\":9000,\"never\":0,\"windows_missed\":0}},"
          + "\"starved\":[],\"hot_nodes\":[],\"use\":{\"ms\":[0],\"host.slots\":[0.5]},"
          + "\"tasks\":{\"ms\":[0],\"running\":[1],\"left\":[2]}}";
  static final String ANSWER =
      "{\"at_ms\":5,\"paused\":[],\"now\":"
          + FORECAST
          + ",\"then\":"
          + FORECAST
          + ",\"ignored\":[]}";

  final List<List<String>> started = new CopyOnWriteArrayList<>();
  final List<byte[]> snapshots = new CopyOnWriteArrayList<>();
  final List<CompletableFuture<Ended>> hanging = new CopyOnWriteArrayList<>();
  volatile Ended next = ended(0, ANSWER, "", "");
  volatile boolean hangs;

  static Ended ended(int code, String output, String errors, String exceeded) {
    return new Ended(code, output, errors, exceeded);
  }

  @Override
  public Run start(byte[] snapshot, List<String> options) {
    started.add(options);
    snapshots.add(snapshot);
    CompletableFuture<Ended> end = new CompletableFuture<>();
    if (hangs) {
      hanging.add(end);
    } else {
      end.complete(next);
    }
    return new Run() {
      @Override
      public CompletionStage<Ended> ended() {
        return end;
      }

      @Override
      public void kill() {
        end.complete(ended137());
      }
    };
  }

  private static Ended ended137() {
    return ended(137, "", "", "");
  }
}
