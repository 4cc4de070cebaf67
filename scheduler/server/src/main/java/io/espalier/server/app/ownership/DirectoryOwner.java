package io.espalier.server.app.ownership;

import io.espalier.worker.process.os.RunPlace;
import java.util.Optional;

/**
 * Identifies a data directory as the owner of a store that is elsewhere. The lock of a directory
 * separates two processes only when both use the very same directory. Its place is therefore part
 * of its identity: a copy, or the directory of a cloned machine, has the same id.
 *
 * @param id random, generated with the directory
 * @param place where the directory is in use
 */
public record DirectoryOwner(String id, RunPlace place) {
  private static final String DIRECTORY = "directory ";
  private static final String AT = " at ";

  /** The relation between an applicant and the owner that a row names. */
  enum Kinship {
    /** The same directory: no earlier process of it still uses the store. */
    SAME,
    /** A directory with the same id that may be another directory. */
    UNPROVEN,
    OTHER
  }

  @Override
  public String toString() {
    return DIRECTORY + id + AT + place.toLine();
  }

  private static Optional<DirectoryOwner> parse(String text) {
    int at = text.indexOf(AT);
    if (!text.startsWith(DIRECTORY) || at < 0) {
      return Optional.empty();
    }
    try {
      return Optional.of(
          new DirectoryOwner(
              text.substring(DIRECTORY.length(), at),
              RunPlace.ofLine(text.substring(at + AT.length()))));
    } catch (IllegalArgumentException e) {
      return Optional.empty();
    }
  }

  /**
   * Compares two owners, each a directory or the name of a group.
   *
   * @param owner the owner named by the row of a store
   * @param applicant the owner that wants the store
   */
  static Kinship between(String owner, String applicant) {
    Optional<DirectoryOwner> mine = parse(applicant);
    if (mine.isEmpty()) {
      return owner.equals(applicant) ? Kinship.SAME : Kinship.OTHER;
    }
    Optional<DirectoryOwner> theirs = parse(owner);
    if (theirs.isEmpty()) {
      // Earlier versions wrote this form, which lacks part of the place.
      return owner.endsWith(DIRECTORY + mine.get().id) ? Kinship.UNPROVEN : Kinship.OTHER;
    }
    if (!theirs.get().id.equals(mine.get().id)) {
      return Kinship.OTHER;
    }
    return mine.get().place.isSameDirectoryAs(theirs.get().place) ? Kinship.SAME : Kinship.UNPROVEN;
  }
}
