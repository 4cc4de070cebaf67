package io.espalier.server.app;

import java.lang.reflect.Proxy;
import java.util.Map;
import java.util.function.IntConsumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Takes SIGINT and SIGTERM over from the virtual machine, which always ends with 130 or 143 on
 * them. A daemon that was asked to stop and has stopped cleanly must end with 0
 * (docs/design/design.md#exit-codes).
 *
 * <p>It uses reflection, because the compiler warns about the class and the warning cannot be
 * suppressed. Where the class is missing, the shutdown hook stops everything just as well, and only
 * the exit code is the machine's.
 */
public final class SignalHandling {
  private static final Logger LOG = LoggerFactory.getLogger(SignalHandling.class);
  private static final Map<String, Integer> SIGNALS = Map.of("INT", 2, "TERM", 15);

  private SignalHandling() {}

  /**
   * Replaces the action of these two signals; the latest call wins.
   *
   * @param onSignal gets the number of each signal, on a thread of its own
   */
  public static void handle(IntConsumer onSignal) {
    SIGNALS.forEach(
        (name, number) -> {
          try {
            install(name, () -> onSignal.accept(number));
          } catch (ReflectiveOperationException | RuntimeException e) {
            LOG.debug("SIG{} stays with the virtual machine", name, e);
          }
        });
  }

  private static void install(String name, Runnable action) throws ReflectiveOperationException {
    Class<?> signal = Class.forName("sun.misc.Signal");
    Class<?> handler = Class.forName("sun.misc.SignalHandler");
    Object proxy =
        Proxy.newProxyInstance(
            SignalHandling.class.getClassLoader(),
            new Class<?>[] {handler},
            (self, method, arguments) ->
                switch (method.getName()) {
                  case "handle" -> {
                    action.run();
                    yield null;
                  }
                  case "hashCode" -> System.identityHashCode(self);
                  case "equals" -> arguments != null && self == arguments[0];
                  default -> "SignalHandling(" + name + ")";
                });
    signal
        .getMethod("handle", signal, handler)
        .invoke(null, signal.getConstructor(String.class).newInstance(name), proxy);
  }
}
