package io.espalier.core.scheduling;

/**
 * A new configuration and its nodes, compared with those in force: everything of it that can be
 * computed beside the scheduler thread. Made by {@link SchedulingCore#prepare}.
 */
public final class Change {
  Change() {}

  /** The tasks that it will bring, as far as can be known before it is in force. */
  public NewTasks newTasks() {
    return NewTasks.NONE;
  }
}
