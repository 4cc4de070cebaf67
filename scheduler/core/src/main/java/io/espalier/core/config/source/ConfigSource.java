package io.espalier.core.config.source;

import io.espalier.core.problem.Problem;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * A source of configuration text. It does not interpret the text. Called by one thread at a time;
 * it may block, and must then respond to interruption.
 */
public interface ConfigSource {
  /** The location of the text, for people, without secrets. */
  String name();

  /** The base directory for relative paths in the configuration. */
  String directory();

  /**
   * Reads the whole current text: never a part of it, never a mixture of two versions as far as the
   * source can tell.
   *
   * @throws Unavailable when there is nothing to read
   */
  Text fetch() throws Unavailable, InterruptedException;

  /** Closes connections; a later fetch opens them again. */
  default void close() {}

  /**
   * A consistent snapshot of the text.
   *
   * @param documents documents in a stable order; several where a configuration may be split
   * @param hash hash of the content alone: equal text, equal hash
   * @param warnings what the source itself doubts about the text
   * @param referred files that the documents refer to, each with its name
   */
  record Text(
      List<Document> documents, String hash, List<Problem> warnings, List<Document> referred) {
    public Text {
      documents = List.copyOf(documents);
      warnings = List.copyOf(warnings);
      referred = List.copyOf(referred);
    }

    public Text(List<Document> documents, String hash) {
      this(documents, hash, List.of(), List.of());
    }
  }

  /** One text with its name. Nobody may modify the bytes. */
  final class Document {
    private final String name;
    private final byte[] bytes;

    public Document(String name, byte[] bytes) {
      this.name = name;
      this.bytes = bytes;
    }

    public Document(String name, String text) {
      this(name, text.getBytes(StandardCharsets.UTF_8));
    }

    /** The name for problems: the file name as the operator would type it. */
    public String name() {
      return name;
    }

    /** The text in UTF-8, not validated. */
    public byte[] bytes() {
      return bytes;
    }
  }

  /** Thrown when the source cannot be read; explains why. */
  final class Unavailable extends Exception {
    private static final long serialVersionUID = 1L;
    private final transient Problem problem;

    public Unavailable(Problem problem) {
      super(problem.message());
      this.problem = problem;
    }

    public Problem problem() {
      return problem;
    }
  }
}
