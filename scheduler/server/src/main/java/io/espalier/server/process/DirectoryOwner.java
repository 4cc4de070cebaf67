package io.espalier.server.process;

import io.espalier.worker.process.RunPlace;
import java.util.Optional;

/**
 * A data directory as the owner of a store that is elsewhere. Its lock keeps two processes apart
 * only where it is one and the same directory, so its place belongs to it: a copy, or the directory
 * of a cloned machine, has the same id.
 *
 * @param id random, made with the directory
 * @param place where it is in use
 */
record DirectoryOwner(String id, RunPlace place) {
  private static final String DIRECTORY = "directory ";
  private static final String AT = " at ";

  /** What an applicant is to the owner that a row names. */
  enum Kinship {
    /** The same one: no earlier process of it has the store. */
    SAME,
    /** A directory with the same id, of which it is not certain that it is the same one. */
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
   * @param owner that the row of a store names
   * @param applicant who wants the store
   */
  static Kinship between(String owner, String applicant) {
    Optional<DirectoryOwner> mine = parse(applicant);
    if (mine.isEmpty()) {
      return owner.equals(applicant) ? Kinship.SAME : Kinship.OTHER;
    }
    Optional<DirectoryOwner> theirs = parse(owner);
    if (theirs.isEmpty()) {
      // As earlier versions wrote it: without enough of the place.
      return owner.endsWith(DIRECTORY + mine.get().id) ? Kinship.UNPROVEN : Kinship.OTHER;
    }
    if (!theirs.get().id.equals(mine.get().id)) {
      return Kinship.OTHER;
    }
    return mine.get().place.isSameDirectoryAs(theirs.get().place) ? Kinship.SAME : Kinship.UNPROVEN;
  }
}
