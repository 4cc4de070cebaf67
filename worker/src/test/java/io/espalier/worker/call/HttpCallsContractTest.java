package io.espalier.worker.call;

import io.espalier.core.call.CallClient;
import io.espalier.core.json.Json;
import io.espalier.testkit.running.CallClientContract;
import io.espalier.worker.call.SlowService.Reply;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Map;

/** Calls over HTTP keep the contract. */
class HttpCallsContractTest extends CallClientContract {
  private final SlowService service = service();

  private static SlowService service() {
    try {
      return new SlowService();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  protected CallClient create() {
    return new HttpCalls();
  }

  @Override
  protected void behaves(Behaviour behaviour) {
    Reply reply =
        switch (behaviour) {
          case ENDS -> Reply.of(200, "{\"result\": \"incomplete\"}");
          case GOES_ON -> Reply.of(202, "{\"progress\": {\"done\": 1}}");
          case FAILS -> Reply.of(400, "no space");
          case REFUSES -> new Reply(503, Map.of("Retry-After", "7"), "");
          case KNOWS_NOTHING -> Reply.of(404, "");
          case CANCELS -> Reply.of(200, "");
          case LOSES_THE_CONNECTION -> Reply.of(0, "");
          case ANSWERS_GARBAGE -> Reply.of(200, "{\"result\": \"incompl");
          case ANSWERS_TOO_MUCH -> Reply.of(200, "{\"x\": \"" + "y".repeat(10 << 20) + "\"}");
          case IS_SILENT -> null;
        };
    if (reply != null) {
      service.answers("/run", reply);
      service.answers("/ask", reply);
    }
  }

  @Override
  protected int requests() {
    return service.requests("/run").size() + service.requests("/ask").size();
  }

  private static Json.Obj options(String url) {
    return Json.object()
        .put("url", url + "/run")
        .put("timeout_sec", 1)
        .put("poll", Json.object().put("url", url + "/ask").build())
        .put("cancel", Json.object().put("url", url + "/ask").build())
        .build();
  }

  @Override
  protected Json.Obj options() {
    return options(service.url());
  }

  @Override
  protected Json.Obj optionsOfNobody() {
    return options("http://127.0.0.1:1");
  }

  @Override
  protected Json.Obj wrongOptions() {
    return Json.object().put("url", "ftp://127.0.0.1").build();
  }

  @Override
  protected void stop() {
    service.close();
  }
}
