package io.espalier.server.nodes;

/** Persists the sketch of the last good nodes across a restart and a fail-over. */
public interface NodesMemory {
  /** Stores nothing. */
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
   * Returns the text saved last; empty: nothing was saved.
   *
   * @throws RuntimeException when it cannot be read now
   */
  String load();

  /**
   * Durably replaces the text.
   *
   * @throws RuntimeException when that failed
   */
  void save(String text);
}
