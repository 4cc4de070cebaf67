package io.espalier.server;

import io.espalier.core.config.*;
import io.espalier.core.problem.Problem;
import io.espalier.json.JsonReader;
import java.nio.file.*;
import java.util.List;
import java.util.function.Consumer;

final class ConfigPoller implements AutoCloseable {
  private final Path file;
  private final ConfigParser parser;
  Config config;

  ConfigPoller(Path file, ConfigParser parser) {
    this.file = file;
    this.parser = parser;
  }

  List<Problem> poll() throws Exception {
    var doc = JsonReader.config().read(Files.readAllBytes(file));
    if (doc.value() == null) return doc.problems();
    var r = parser.parse(doc.value());
    config = r.value();
    return r.problems();
  }

  void start(Consumer<Config> sink, Consumer<List<Problem>> problems) {
    sink.accept(config);
  }

  @Override
  public void close() {}
}
