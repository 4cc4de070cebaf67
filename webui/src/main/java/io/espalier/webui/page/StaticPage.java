package io.espalier.webui.page;

import io.espalier.webui.http.AsyncResponder;
import io.vertx.core.Handler;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.ext.web.RoutingContext;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.zip.CRC32;
import org.jspecify.annotations.Nullable;

/** One file of the page, read once, and compressed once when that is first needed. */
public final class StaticPage implements Handler<RoutingContext> {
  private final String type;
  private final Buffer plain;
  private final String tag;
  private final String keep;
  private volatile @Nullable Buffer zipped;

  /**
   * @param resource on the class path
   * @param type content type
   */
  public StaticPage(String resource, String type) {
    this(Webroot.read(resource), type, false);
  }

  /**
   * @param type content type
   * @param forever whether the path identifies this very content, so that a browser can cache it
   *     forever
   */
  StaticPage(byte[] bytes, String type, boolean forever) {
    CRC32 crc = new CRC32();
    crc.update(bytes);
    this.type = type;
    this.keep = forever ? "private, max-age=31536000, immutable" : "no-cache";
    this.plain = Buffer.buffer(bytes);
    this.tag =
        '"'
            + HexFormat.of().toHexDigits((int) crc.getValue())
            + '-'
            + Integer.toHexString(bytes.length)
            + '"';
  }

  public String text() {
    return plain.toString(StandardCharsets.UTF_8);
  }

  @Override
  public void handle(RoutingContext ctx) {
    HttpServerResponse response =
        ctx.response()
            .putHeader("ETag", tag)
            .putHeader("Vary", "Accept-Encoding")
            .putHeader("Cache-Control", keep);
    if (tag.equals(ctx.request().getHeader("If-None-Match"))) {
      response.setStatusCode(304).end();
      return;
    }
    response.putHeader("Content-Type", type);
    if (AsyncResponder.acceptsGzip(ctx)) {
      response.putHeader("Content-Encoding", "gzip").end(zipped());
    } else {
      response.end(plain);
    }
  }

  private Buffer zipped() {
    Buffer bytes = zipped;
    if (bytes == null) {
      bytes = Buffer.buffer(AsyncResponder.gzip(plain.getBytes()));
      zipped = bytes;
    }
    return bytes;
  }
}
