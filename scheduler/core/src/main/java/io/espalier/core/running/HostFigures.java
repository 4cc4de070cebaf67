package io.espalier.core.running;

/**
 * What a worker has measured of its host or container, for people: placement does not read it. A
 * figure that cannot be true counts as unknown.
 *
 * @param load load average of the last minute, in thousandths; negative: unknown
 * @param memory its memory; free is what is available without swapping
 * @param disk the file system of its data directory
 */
public record HostFigures(int load, Space memory, Space disk) {
  /** Nothing is known. */
  public static final HostFigures UNKNOWN = new HostFigures(-1, Space.UNKNOWN, Space.UNKNOWN);

  public HostFigures {
    load = Math.max(-1, load);
  }

  /**
   * Memory or disk. Both figures are known, or none: a part is of no use without the whole.
   *
   * @param totalBytes negative: unknown
   * @param freeBytes negative: unknown
   */
  public record Space(long totalBytes, long freeBytes) {
    /** Nothing is known. */
    public static final Space UNKNOWN = new Space(-1, -1);

    public Space {
      if (totalBytes <= 0 || freeBytes < 0 || freeBytes > totalBytes) {
        totalBytes = -1;
        freeBytes = -1;
      }
    }

    /** Returns whether both figures are known. */
    public boolean isKnown() {
      return totalBytes >= 0;
    }
  }
}
