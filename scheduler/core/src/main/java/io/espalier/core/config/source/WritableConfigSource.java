package io.espalier.core.config.source;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** A source whose text can be changed, and which remembers the changes. For any thread. */
public interface WritableConfigSource extends ConfigSource {
  /** The document that a job which is in none yet would be written to. */
  String documentFor(String job);

  /**
   * Replaces, adds or removes one document, at once and durably, if the text is still what was
   * fetched.
   *
   * @param expected from {@link #fetch}
   * @param document name of the document
   * @param text null: removes it
   * @return false, and nothing is written, when the text is another one by now
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
