package io.espalier.cli.client;

import io.espalier.cli.term.TerminalInfo;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;

/** The set-up of tests of commands whose answers the test gives. */
abstract class FakedCommands {
  final FakeServer server = new FakeServer();

  @AfterEach
  void stop() {
    server.close();
  }

  CommandRun run(String... arguments) {
    return run(TerminalInfo.plain(0), arguments);
  }

  CommandRun run(TerminalInfo viewport, String... arguments) {
    List<String> all = new ArrayList<>(List.of(arguments));
    all.add("--server=" + server.url());
    return CommandRun.of(viewport, all.toArray(String[]::new));
  }
}
