package io.espalier.nodes;

/** One run of a script did not deliver; the message continues "the script …". */
final class ScriptException extends Exception {
  private static final long serialVersionUID = 1L;

  ScriptException(String message) {
    super(message);
  }
}
