package io.espalier.core.topology;

/**
 * Whether a scheduler of one partition may ask a source for its own part only
 * (docs/sharding.md#asking-for-less).
 */
public enum PushDown {
  /** It asks for everything. */
  NONE,

  /** Each node of the source hangs under one parent; an answer that says otherwise is refused. */
  ONE_PARENT,

  /** Whatever names a node also names all its parents; so the same row may come several times. */
  ALL_PARENTS
}
