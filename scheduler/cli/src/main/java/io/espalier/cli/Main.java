package io.espalier.cli;

import io.espalier.server.app.LogProvider;

/** The entry point of the program. */
public final class Main {
  private Main() {}

  /** Runs a command line and ends the process with its exit code. */
  public static void main(String[] args) {
    LogProvider.use();
    // Otherwise picocli searches all archives for a class of Groovy.
    System.setProperty("picocli.disable.closures", "true");
    // Notifications over HTTP go to the address that was judged, and say for which host.
    System.setProperty("jdk.httpclient.allowRestrictedHeaders", "host");
    System.exit(EspalierCommand.execute(args, System.getenv()));
  }
}
