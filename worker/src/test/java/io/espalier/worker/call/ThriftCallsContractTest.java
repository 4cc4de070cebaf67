package io.espalier.worker.call;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.call.CallAnswer;
import io.espalier.core.call.CallClient;
import io.espalier.core.config.task.CallSpec;
import io.espalier.core.json.Json;
import io.espalier.core.running.Call;
import io.espalier.core.running.Invocation;
import io.espalier.core.running.InvocationLimits;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.thrift.protocol.TMessageType;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Calls without TLS keep the contract, and send no secret. */
class ThriftCallsContractTest extends ThriftCallClientContract {
  ThriftCallsContractTest() {
    super(new FakeAgent(FakeAgent.plain()));
  }

  @AfterEach
  void eachRequestIsForOneMethodAndWithoutSecret() {
    assertThat(agent.requests())
        .allMatch(
            request ->
                request.message().type == TMessageType.CALL
                    && List.of("start", "poll", "cancel").contains(request.message().name)
                    && request.secret().isEmpty());
  }

  @Test
  void whatCannotBeReachedIsNamed() throws Exception {
    Call call =
        Call.of(
            new CallSpec("thrift", optionsOfNobody(), false, Duration.ofMinutes(1)),
            "j",
            0,
            new Invocation(7, 1, 1_000),
            1,
            List.of("instance"),
            List.of("i"),
            InvocationLimits.NONE);
    try (CallClient calls = create()) {
      assertThat(
              calls
                  .start(call, Json.Obj.EMPTY, () -> true)
                  .toCompletableFuture()
                  .get(30, TimeUnit.SECONDS))
          .isEqualTo(new CallAnswer.NotStarted("cannot connect to 127.0.0.1:1", 0));
    }
  }

  @Override
  protected Json.Obj options(int port) {
    return Json.object().put("host", "127.0.0.1").put("port", port).put("timeout_sec", 1).build();
  }

  @Override
  protected Json.Obj wrongOptions() {
    return Json.object().put("host", "a b").put("port", 1).build();
  }
}
