package io.espalier.cli.client;

import io.espalier.core.api.SchedulerApi;
import io.espalier.core.json.Json;
import io.espalier.server.CommandException;
import io.espalier.server.ExitCode;
import io.espalier.webui.v1.ApiException;
import io.espalier.webui.v1.ApiRequest;
import io.espalier.webui.v1.ApiV1;
import io.espalier.webui.v1.ServerIdentity;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Predicate;

/** A client for a scheduler in this process, such as one that only reads a data directory. */
public final class EmbeddedSchedulerClient implements Client {
  private static final long PATIENCE_SECONDS = 60;

  private final ApiV1 resources;
  private final AutoCloseable source;

  /**
   * @param source closed with this client
   */
  public EmbeddedSchedulerClient(SchedulerApi api, ServerIdentity identity, AutoCloseable source) {
    this.resources = new ApiV1(api, identity);
    this.source = source;
  }

  @Override
  public Json.Obj call(
      String method,
      String template,
      Map<String, String> path,
      Map<String, List<String>> query,
      Json.Obj body) {
    try {
      Json answer =
          resources
              .call(method, template, new ApiRequest(path, query, body))
              .toCompletableFuture()
              .get(PATIENCE_SECONDS, TimeUnit.SECONDS);
      return (Json.Obj) answer;
    } catch (ExecutionException e) {
      Throwable cause = e.getCause() == null ? e : e.getCause();
      ApiException failure = ApiException.of(cause);
      throw new CommandException(
          failure.status() == 400 ? ExitCode.USAGE : ExitCode.FAILED,
          String.valueOf(failure.getMessage()),
          cause);
    } catch (TimeoutException e) {
      throw new CommandException(ExitCode.FAILED, "no answer in time", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new CommandException(ExitCode.FAILED, "interrupted", e);
    }
  }

  @Override
  public void follow(Map<String, List<String>> query, Predicate<Json.Obj> onEvent) {
    throw new CommandException(
        ExitCode.USAGE, "nothing happens in a scheduler that has ended: leave out --follow");
  }

  @Override
  public void followLogs(Map<String, List<String>> query, Predicate<Json.Obj> onLine) {
    throw new CommandException(
        ExitCode.USAGE,
        "nothing is written to the logs of a scheduler that has ended: leave out -f");
  }

  @Override
  public void close() {
    try {
      source.close();
    } catch (Exception e) {
      throw new CommandException(ExitCode.FAILED, "cannot close: " + e.getMessage(), e);
    }
  }
}
