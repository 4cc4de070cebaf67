package io.espalier.worker.call;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.call.CallClient;
import io.espalier.core.json.Json;
import io.espalier.testkit.running.CallClientContract;
import io.espalier.testkit.tls.Authority;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;

/**
 * Calls over Thrift keep the contract with TLS too: of an agent that wants certificates and a
 * secret.
 */
class ThriftCallsOverTlsContractTest extends CallClientContract {
  @TempDir static Path directory = Path.of("");

  private static final CompletableFuture<Json.Obj> TLS = new CompletableFuture<>();
  private static final CompletableFuture<Authority.Member> AGENT = new CompletableFuture<>();

  private final FakeAgent agent;

  ThriftCallsOverTlsContractTest() throws IOException {
    agent = new FakeAgent(FakeAgent.tls("127.0.0.1", AGENT.join(), directory.resolve("ca.pem")));
  }

  @BeforeAll
  static void certificates() throws Exception {
    Authority authority = new Authority(directory);
    AGENT.complete(authority.member("agent"));
    Authority.Member worker = authority.member("worker");
    TLS.complete(
        Json.object()
            .put("ca_file", authority.certificate().toString())
            .put("cert_file", worker.certificate().toString())
            .put("key_file", worker.key().toString())
            .build());
    Files.writeString(directory.resolve("secret"), "open sesame\n");
  }

  @Override
  protected CallClient create() {
    return new ThriftCalls();
  }

  @AfterEach
  void eachRequestHasTheSecret() {
    assertThat(agent.requests()).allMatch(request -> request.secret().equals("open sesame"));
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
    return Json.object()
        .put("host", "127.0.0.1")
        .put("port", port)
        .put("timeout_sec", 5)
        .put("tls", TLS.join())
        .put("secret_file", directory.resolve("secret").toString())
        .build();
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
    return Json.object().put("host", "127.0.0.1").put("port", 1).put("tls", 7).build();
  }

  @Override
  protected void stop() throws IOException {
    agent.close();
  }
}
