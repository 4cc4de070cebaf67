package io.espalier.e2e.drill;

import io.espalier.core.json.Json;
import io.espalier.json.JsonReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Asks the scheduler of a drill, from within its network namespace. */
final class Api {
  private final Hosts hosts;
  private final int port;

  Api(Hosts hosts, int port) {
    this.hosts = hosts;
    this.port = port;
  }

  /** Whether it was done, or had been done before by a call whose answer did not come in time. */
  boolean post(String path) {
    try {
      List<String> answer =
          curl(
              List.of("-X", "POST", "-d", "{}", "-o", "/dev/null", "-w", "%{http_code}\\n"),
              List.of(path));
      return !answer.isEmpty() && List.of("200", "404", "409").contains(answer.get(0));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  Json.@Nullable Obj get(String path) throws IOException, InterruptedException {
    List<String> answers = get(List.of(path));
    return !answers.isEmpty() && JsonReader.parse(answers.get(0)).value() instanceof Json.Obj object
        ? object
        : null;
  }

  List<String> get(List<String> paths) throws IOException, InterruptedException {
    return paths.isEmpty() ? List.of() : curl(List.of(), paths);
  }

  /** In the namespace of the scheduler; nothing when it does not answer. */
  private List<String> curl(List<String> options, List<String> paths)
      throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(hosts.command(0));
    command.addAll(List.of("curl", "-s", "-g", "--max-time", "2", "-w", "\\n"));
    command.addAll(options);
    paths.forEach(path -> command.add("http://127.0.0.1:" + port + path));
    Process curl =
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.DISCARD).start();
    String body = new String(curl.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    return curl.waitFor() == 0 ? body.lines().toList() : List.of();
  }
}
