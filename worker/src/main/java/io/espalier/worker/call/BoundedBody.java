package io.espalier.worker.call;

import java.io.ByteArrayOutputStream;
import java.net.http.HttpResponse.BodySubscriber;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import org.jspecify.annotations.Nullable;

/**
 * Reads the body of an answer up to a length, and then stops reading: a service may send more than
 * anybody wants to keep.
 */
final class BoundedBody implements BodySubscriber<BoundedBody.Text> {
  /** Longer bodies are not read to their end. */
  static final int MAX_BYTES = 64 * 1024;

  private final CompletableFuture<Text> body = new CompletableFuture<>();
  private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
  private Flow.@Nullable Subscription subscription;

  /**
   * The body, or its beginning.
   *
   * @param whole whether nothing was left out
   */
  record Text(String text, boolean whole) {}

  @Override
  public CompletionStage<Text> getBody() {
    return body;
  }

  @Override
  public void onSubscribe(Flow.Subscription given) {
    subscription = given;
    given.request(Long.MAX_VALUE);
  }

  @Override
  public void onNext(List<ByteBuffer> buffers) {
    for (ByteBuffer buffer : buffers) {
      byte[] part = new byte[Math.min(buffer.remaining(), MAX_BYTES + 1 - bytes.size())];
      buffer.get(part);
      bytes.write(part, 0, part.length);
    }
    Flow.Subscription from = subscription;
    if (bytes.size() > MAX_BYTES && from != null) {
      from.cancel();
      body.complete(new Text(text(), false));
    }
  }

  @Override
  public void onError(Throwable failure) {
    body.completeExceptionally(failure);
  }

  @Override
  public void onComplete() {
    body.complete(new Text(text(), true));
  }

  private String text() {
    return bytes.toString(StandardCharsets.UTF_8);
  }
}
