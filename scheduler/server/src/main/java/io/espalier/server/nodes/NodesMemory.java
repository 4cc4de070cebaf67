package io.espalier.server.nodes;

/** What is remembered of the last good nodes over a restart and a fail-over. */
public interface NodesMemory {
  /** Remembers nothing. */
  NodesMemory NONE =
      new NodesMemory() {
        @Override
        public String load() {
          return "";
        }

        @Override
        public void save(String text) {}
      };

  /**
   * What was saved last; empty: nothing.
   *
   * @throws RuntimeException when that cannot be known now
   */
  String load();

  /**
   * Durably replaces it.
   *
   * @throws RuntimeException when that failed
   */
  void save(String text);
}
