package io.espalier.core.config.label;

import java.util.Collections;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * What a job tells people about itself. Nothing of it has an effect on what runs. Immutable.
 *
 * @param description what the job is for; empty when not given
 * @param labels values by the name of the label, by which people find jobs
 * @param links http and https URLs without credentials, by what to show for them
 */
public record JobInfo(
    String description, SortedMap<String, String> labels, SortedMap<String, String> links) {
  /** Of a job that tells nothing. */
  public static final JobInfo NONE =
      new JobInfo("", Collections.emptySortedMap(), Collections.emptySortedMap());

  public JobInfo {
    labels = Collections.unmodifiableSortedMap(new TreeMap<>(labels));
    links = Collections.unmodifiableSortedMap(new TreeMap<>(links));
  }

  /**
   * Returns true when the job has a label.
   *
   * @param label {@code NAME=VALUE}
   */
  public boolean has(String label) {
    int equals = label.indexOf('=');
    return equals > 0 && label.substring(equals + 1).equals(labels.get(label.substring(0, equals)));
  }
}
