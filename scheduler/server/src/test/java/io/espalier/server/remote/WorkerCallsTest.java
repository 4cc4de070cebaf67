package io.espalier.server.remote;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.protocol.WorkBatch;
import io.espalier.core.running.WorkerRef;
import io.espalier.thrift.rpc.PeerOptions;
import io.espalier.thrift.rpc.RpcSecurity;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

final class WorkerCallsTest {
  @Test
  void aCallForWhichThereIsNoThreadHasNotReachedTheWorker() {
    PeerOptions options = PeerOptions.of("test", RpcSecurity.none());
    List<String> failures = new ArrayList<>();
    try (WorkerCalls calls =
        new WorkerCalls(
            options,
            work -> {
              throw new OutOfMemoryError("unable to create native thread");
            })) {
      calls.work(
          "127.0.0.1:1",
          new WorkBatch(1, 1, new WorkerRef("w", 1), 1, List.of(), List.of(), List.of(), List.of()),
          60_000,
          answer -> failures.add("answered"),
          (reached, why) -> failures.add(reached + ": " + why));
      assertThat(failures)
          .containsExactly("false: while calling 127.0.0.1:1: unable to create native thread");
      assertThat(calls.failed()).isEqualTo(1);
    }
  }
}
