package io.espalier.core.topology;

/** Receives the nodes of a source, parents before children, siblings in their original order. */
public interface NodeSink {
  void add(NodeSpec node);
}
