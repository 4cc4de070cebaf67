package io.espalier.core.notification;

import io.espalier.core.json.Json;

/** Sends notifications in one way: the seam for other kinds of receivers. Thread-safe. */
public interface Notifier {
  /** Returns the name by which the configuration chooses it. */
  String kind();

  /**
   * Tries once to send, on the calling thread, within the time that the options allow. The receiver
   * may get a notification again, with the same id. Never throws, except when the thread is
   * interrupted.
   *
   * @param options as the configuration has them, checked
   * @param id id for the receiver, the same in every attempt
   * @return why it failed, in one line without secrets; empty: the receiver has it
   */
  String send(Json.Obj options, Notification what, String id) throws InterruptedException;
}
