package io.espalier.webui;

import io.vertx.core.Handler;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.ext.web.RoutingContext;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.zip.CRC32;

/** One file of the page, read and compressed once. */
final class Page implements Handler<RoutingContext> {
  private final String type;
  private final Buffer plain;
  private final Buffer zipped;
  private final String tag;

  /**
   * @param resource on the class path
   * @param type of the content
   */
  Page(String resource, String type) {
    byte[] bytes = read(resource);
    CRC32 crc = new CRC32();
    crc.update(bytes);
    this.type = type;
    this.plain = Buffer.buffer(bytes);
    this.zipped = Buffer.buffer(Answers.gzip(bytes));
    this.tag = String.format(Locale.ROOT, "\"%08x-%x\"", crc.getValue(), bytes.length);
  }

  String text() {
    return plain.toString(StandardCharsets.UTF_8);
  }

  @Override
  public void handle(RoutingContext ctx) {
    HttpServerResponse response =
        ctx.response()
            .putHeader("ETag", tag)
            .putHeader("Vary", "Accept-Encoding")
            .putHeader("Cache-Control", "no-cache");
    if (tag.equals(ctx.request().getHeader("If-None-Match"))) {
      response.setStatusCode(304).end();
      return;
    }
    response.putHeader("Content-Type", type);
    if (Answers.acceptsGzip(ctx)) {
      response.putHeader("Content-Encoding", "gzip").end(zipped);
    } else {
      response.end(plain);
    }
  }

  private static byte[] read(String resource) {
    try (InputStream in = Page.class.getResourceAsStream(resource)) {
      if (in == null) {
        throw new IllegalStateException("no resource " + resource);
      }
      return in.readAllBytes();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
