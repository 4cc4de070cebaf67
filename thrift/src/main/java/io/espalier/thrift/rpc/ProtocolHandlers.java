package io.espalier.thrift.rpc;

import io.espalier.core.problem.Causes;
import io.espalier.thrift.gen.Refused;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.Supplier;
import org.apache.thrift.TBase;
import org.jspecify.annotations.Nullable;

/** The handlers of a service's calls. Unlike libthrift's processors they do not block a thread. */
final class ProtocolHandlers {
  private final Map<String, Method<?>> byName = new HashMap<>();

  /** The handler of one call. */
  interface Method<A extends TBase<A, ?>> {
    A arguments();

    /**
     * Returns a stage that completes with the result structure, which contains the answer or a
     * declared exception.
     *
     * @param from the connection on which the call came
     */
    CompletionStage<? extends TBase<?, ?>> call(A arguments, RpcConnection from);
  }

  /**
   * @param answered builds the result structure of an answer
   * @param refused builds the result structure of a refusal
   */
  <A extends TBase<A, ?>, T> ProtocolHandlers add(
      String name,
      Supplier<A> arguments,
      BiFunction<A, RpcConnection, CompletionStage<T>> call,
      Function<T, TBase<?, ?>> answered,
      Function<Refused, TBase<?, ?>> refused) {
    byName.put(
        name,
        new Method<A>() {
          @Override
          public A arguments() {
            return arguments.get();
          }

          @Override
          public CompletionStage<TBase<?, ?>> call(A given, RpcConnection from) {
            return call.apply(given, from)
                .handle(
                    (answer, failure) -> {
                      if (failure == null) {
                        return answered.apply(answer);
                      }
                      Throwable cause = Causes.of(failure);
                      if (cause instanceof Refused why) {
                        return refused.apply(why);
                      }
                      throw new CompletionException(cause);
                    });
          }
        });
    return this;
  }

  @Nullable Method<?> get(String name) {
    return byName.get(name);
  }
}
