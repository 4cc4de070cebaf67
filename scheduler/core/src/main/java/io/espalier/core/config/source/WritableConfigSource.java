package io.espalier.core.config.source;

import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * A configuration source that can be written and that stores the history of changes. Thread-safe.
 */
public interface WritableConfigSource extends ConfigSource {
  /** The document to which a new job would be written. */
  String documentFor(String job);

  /**
   * Replaces, adds or removes documents, atomically and durably, if the text is still the fetched
   * one. Files are replaced one after the other, those to be removed last: a process that dies in
   * between leaves some of them as they were.
   *
   * @param expected text from {@link #fetch}
   * @param documents new texts by the names of the documents; empty: removes the document
   * @return false, and nothing is written, when the text has changed since
   * @throws Unavailable when it cannot be written
   */
  boolean write(Text expected, SortedMap<String, Optional<byte[]>> documents)
      throws Unavailable, InterruptedException;

  /**
   * Replaces, adds or removes one document.
   *
   * @param text new text; null: removes the document
   */
  default boolean write(Text expected, String document, byte @Nullable [] text)
      throws Unavailable, InterruptedException {
    return write(expected, new TreeMap<>(Map.of(document, Optional.ofNullable(text))));
  }

  /**
   * Appends to the history of changes what one change has written.
   *
   * @param versions in order; of one job there may be several
   * @throws Unavailable when it cannot be written
   */
  void remember(List<JobVersion> versions) throws Unavailable;

  /**
   * The versions of a job that were saved through this port, oldest first.
   *
   * @throws Unavailable when they cannot be read
   */
  List<JobVersion> history(String job) throws Unavailable;

  /**
   * Returns the {@link #history} of each of these jobs.
   *
   * @throws Unavailable when they cannot be read
   */
  default Map<String, List<JobVersion>> histories(Collection<String> jobs) throws Unavailable {
    Map<String, List<JobVersion>> histories = new HashMap<>();
    for (String job : jobs) {
      histories.put(job, history(job));
    }
    return histories;
  }
}
