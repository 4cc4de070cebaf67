package io.espalier.worker.call;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.json.Json;
import java.util.List;
import org.apache.thrift.protocol.TMessageType;
import org.junit.jupiter.api.AfterEach;

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

  @Override
  protected Json.Obj options(int port) {
    return Json.object().put("host", "127.0.0.1").put("port", port).put("timeout_sec", 1).build();
  }

  @Override
  protected Json.Obj wrongOptions() {
    return Json.object().put("host", "a b").put("port", 1).build();
  }
}
