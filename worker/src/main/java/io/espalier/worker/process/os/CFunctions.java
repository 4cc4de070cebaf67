package io.espalier.worker.process.os;

import com.sun.jna.Native;
import com.sun.jna.NativeLibrary;

/** JNA's direct mapping of the C functions that each process has. */
final class CFunctions {
  private static final String PATH = "jna.platform.library.path";

  private CFunctions() {}

  /**
   * Binds the native methods of a class.
   *
   * @throws LinkageError when one of the functions is missing
   */
  static void register(Class<?> functions) {
    if (System.getProperty(PATH) == null) {
      // Without a path JNA runs ldconfig to learn where libraries are. None is searched for here.
      System.setProperty(PATH, "");
    }
    Native.register(functions, NativeLibrary.getProcess());
  }
}
