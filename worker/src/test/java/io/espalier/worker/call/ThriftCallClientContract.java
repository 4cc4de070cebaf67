package io.espalier.worker.call;

import io.espalier.core.call.CallClient;
import io.espalier.core.json.Json;
import io.espalier.testkit.running.CallClientContract;
import java.io.IOException;

/** The contract of calls, kept over Thrift against an agent on a real socket. */
abstract class ThriftCallClientContract extends CallClientContract {
  protected final FakeAgent agent;

  /**
   * Makes a test of calls to an agent.
   *
   * @param agent closed after the test
   */
  ThriftCallClientContract(FakeAgent agent) {
    this.agent = agent;
  }

  /** Returns the options of a call to the agent at this port of this host. */
  protected abstract Json.Obj options(int port);

  @Override
  protected final CallClient create() {
    return new ThriftCalls();
  }

  @Override
  protected final void behaves(Behaviour now) {
    agent.behaves(now);
  }

  @Override
  protected final int requests() {
    return agent.requests().size();
  }

  @Override
  protected final Json.Obj options() {
    return options(agent.port());
  }

  @Override
  protected final Json.Obj optionsOfNobody() {
    return options(1);
  }

  @Override
  protected final void stop() throws IOException {
    agent.close();
  }
}
