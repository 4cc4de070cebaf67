package io.espalier.core.config.source;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A configuration source that can be written and that stores the history of changes. Thread-safe.
 */
public interface WritableConfigSource extends ConfigSource {
  /** The document to which a new job would be written. */
  String documentFor(String job);

  /**
   * Replaces, adds or removes one document, atomically and durably, if the text is still the
   * fetched one.
   *
   * @param expected text from {@link #fetch}
   * @param document name of the document
   * @param text new text; null: removes the document
   * @return false, and nothing is written, when the text has changed since
   * @throws Unavailable when it cannot be written
   */
  boolean write(Text expected, String document, byte @Nullable [] text)
      throws Unavailable, InterruptedException;

  /**
   * Appends to the history of changes.
   *
   * @throws Unavailable when it cannot be written
   */
  void remember(JobVersion version) throws Unavailable;

  /**
   * The versions of a job that were saved through this port, oldest first.
   *
   * @throws Unavailable when they cannot be read
   */
  List<JobVersion> history(String job) throws Unavailable;
}
