package io.espalier.server;

import io.espalier.core.config.*;
import io.espalier.core.topology.*;
import io.espalier.server.nodes.NodeSnapshot;
import java.time.Instant;
import java.util.function.Consumer;

@SuppressWarnings("all")
final class NodesPoller implements AutoCloseable {
  private final ProcessOptions options;
  private final Plugins plugins;
  private final Consumer<NodeSnapshot> sink;
  private @org.jspecify.annotations.Nullable Settings settings;

  NodesPoller(
      ProcessOptions options, Plugins plugins, Object configs, Consumer<NodeSnapshot> sink) {
    this.options = options;
    this.plugins = plugins;
    this.sink = sink;
  }

  void config(Settings s) {
    settings = s;
    poll(Instant.now());
  }

  void poll(Instant now) {
    TopologyBuilder b = new TopologyBuilder(settings.levels(), options.instanceNodeName());
    for (NodeSourceSpec spec : settings.nodeSources()) {
      try {
        var r =
            plugins
                .nodeSources()
                .get(spec.source())
                .create(spec, settings.levels(), options.configDirectory());
        r.value().fetch(b, now, b);
      } catch (Exception e) {
        throw new RuntimeException(e);
      }
    }
    var built = b.build(settings.nodeOrder());
    sink.accept(new NodeSnapshot(built.value(), settings.nodesHash(), now));
  }

  @Override
  public void close() {}
}
