package io.espalier.worker.call;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.call.CallClient;
import io.espalier.core.json.Json;
import io.espalier.testkit.running.CallClientContract;
import java.io.IOException;
import java.util.List;
import org.apache.thrift.protocol.TMessageType;
import org.junit.jupiter.api.AfterEach;

/** Calls over Thrift keep the contract, against an agent on a real socket. */
class ThriftCallsContractTest extends CallClientContract {
  private final FakeAgent agent = new FakeAgent(FakeAgent.plain());

  @Override
  protected CallClient create() {
    return new ThriftCalls();
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
  protected void behaves(Behaviour now) {
    agent.behaves(now);
  }

  @Override
  protected int requests() {
    return agent.requests().size();
  }

  private static Json.Obj options(int port) {
    return Json.object().put("host", "127.0.0.1").put("port", port).put("timeout_sec", 1).build();
  }

  @Override
  protected Json.Obj options() {
    return options(agent.port());
  }

  @Override
  protected Json.Obj optionsOfNobody() {
    return options(1);
  }

  @Override
  protected Json.Obj wrongOptions() {
    return Json.object().put("host", "a b").put("port", 1).build();
  }

  @Override
  protected void stop() throws IOException {
    agent.close();
  }
}
