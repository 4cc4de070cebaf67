package io.espalier.nodes.script;

/** A run of a script failed; the message continues "the script …". */
final class ScriptException extends Exception {
  private static final long serialVersionUID = 1L;

  ScriptException(String message) {
    super(message);
  }
}
