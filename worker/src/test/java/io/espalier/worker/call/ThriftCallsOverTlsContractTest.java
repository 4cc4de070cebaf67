package io.espalier.worker.call;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.json.Json;
import io.espalier.testkit.tls.Authority;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;

/** Calls over TLS keep the contract, to an agent that wants certificates and a secret. */
@Tag("slow")
class ThriftCallsOverTlsContractTest extends ThriftCallClientContract {
  @TempDir static Path directory = Path.of("");

  private static final CompletableFuture<Json.Obj> TLS = new CompletableFuture<>();
  private static final CompletableFuture<Authority.Member> AGENT = new CompletableFuture<>();

  ThriftCallsOverTlsContractTest() throws IOException {
    super(new FakeAgent(FakeAgent.tls("127.0.0.1", AGENT.join(), directory.resolve("ca.pem"))));
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

  @AfterEach
  void eachRequestHasTheSecret() {
    assertThat(agent.requests()).allMatch(request -> request.secret().equals("open sesame"));
  }

  @Override
  protected Json.Obj options(int port) {
    return Json.object()
        .put("host", "127.0.0.1")
        .put("port", port)
        .put("timeout_sec", 5)
        .put("tls", TLS.join())
        .put("secret_file", directory.resolve("secret").toString())
        .build();
  }

  @Override
  protected Json.Obj wrongOptions() {
    return Json.object().put("host", "127.0.0.1").put("port", 1).put("tls", 7).build();
  }
}
