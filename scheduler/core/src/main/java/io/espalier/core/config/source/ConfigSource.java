package io.espalier.core.config.source;

import io.espalier.core.problem.Problem;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * Where configuration text comes from. Knows nothing of its meaning. Called by one thread at a
 * time; may block, and then honours interruption.
 */
public interface ConfigSource {
  /** Where the text comes from, for people, without secrets. */
  String name();

  /** The directory that relative paths in the configuration are relative to. */
  String directory();

  /**
   * Reads the whole text as it stands now: never a part of it, never a mixture of two versions as
   * far as the source can tell.
   *
   * @throws Unavailable when there is nothing to read
   */
  Text fetch() throws Unavailable, InterruptedException;

  /** Lets go of connections; it may be asked again, and then connects again. */
  default void close() {}

  /**
   * One consistent reading.
   *
   * @param documents in a stable order; more than one where a configuration may be spread
   * @param hash of the content alone: equal text, equal hash
   */
  record Text(List<Document> documents, String hash) {
    public Text {
      documents = List.copyOf(documents);
    }
  }

  /** One text with its name. The bytes are not to be changed by anybody. */
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

    /** For problems: the file name as the operator would type it. */
    public String name() {
      return name;
    }

    /** The text in UTF-8, unchecked. */
    public byte[] bytes() {
      return bytes;
    }
  }

  /** The source cannot be read; says why. */
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
