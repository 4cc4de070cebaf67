package io.espalier.worker.process.os;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;

/** Explains file failures: which file was needed, its path, and the reason. */
public final class FileFailures {
  private FileFailures() {}

  /** An operation that needs a file or a directory. */
  @FunctionalInterface
  public interface Work<T> {
    /** Performs the operation. */
    T done() throws IOException;
  }

  /**
   * Performs an operation that needs a path.
   *
   * @param what the needed file, such as {@code "the audit log"}
   * @throws IOException naming the file, the path, and the reason
   */
  public static <T> T needing(String what, Path path, Work<T> work) throws IOException {
    try {
      return work.done();
    } catch (IOException e) {
      throw new IOException("cannot use " + path + " for " + what + ": " + why(e), e);
    }
  }

  /** Returns the reason, for people; the JDK's message may be a path and nothing else. */
  public static String why(IOException e) {
    if (!(e instanceof FileSystemException inFile)) {
      return e.getMessage() == null ? e.getClass().getSimpleName() : e.getMessage();
    }
    String why = inFile.getReason();
    if (e instanceof AccessDeniedException) {
      why = "permission denied";
    } else if (e instanceof FileAlreadyExistsException) {
      why = "there is a file of that name that is no directory";
    } else if (e instanceof NotDirectoryException) {
      why = "it is no directory";
    } else if (e instanceof NoSuchFileException) {
      why = "there is no such file";
    } else if (why == null) {
      why = e.getClass().getSimpleName();
    }
    return inFile.getFile() == null ? why : why + " (" + inFile.getFile() + ")";
  }
}
