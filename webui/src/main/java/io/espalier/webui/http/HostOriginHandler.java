package io.espalier.webui.http;

import io.espalier.webui.v1.ApiException;
import io.vertx.core.Handler;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.ext.web.RoutingContext;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.HashSet;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Rejects requests of foreign web pages (docs/design/design.md#requests-from-the-web). A page in
 * the operator's browser can reach a loopback port, so both the host (DNS rebinding) and the page's
 * origin (forged requests) must be ours.
 */
public final class HostOriginHandler implements Handler<RoutingContext> {
  private final Set<String> hosts = new HashSet<>();
  private final boolean anyHost;

  /**
   * @param allowed names or addresses without port; {@code *}: all
   */
  public HostOriginHandler(Set<String> allowed) {
    hosts.addAll(Set.of("localhost", "127.0.0.1", "::1"));
    allowed.forEach(host -> hosts.add(bare(host)));
    anyHost = allowed.contains("*");
  }

  @Override
  public void handle(RoutingContext ctx) {
    String refusal = refusal(ctx.request());
    if (refusal == null) {
      ctx.next();
    } else {
      AsyncResponder.send(ctx, HttpReply.problem(new ApiException(403, refusal)));
    }
  }

  private @Nullable String refusal(HttpServerRequest request) {
    String host = request.getHeader("Host");
    if (request.headers().getAll("Host").size() > 1) {
      return "the Host header is given more than once";
    }
    if (!anyHost && (host == null || !hosts.contains(bare(withoutPort(host))))) {
      return "the Host header names a host that is not this server's";
    }
    String origin = request.getHeader("Origin");
    if (origin != null && !isOwn(origin, host == null ? "" : host)) {
      return "requests from pages of other origins are refused";
    }
    String site = request.getHeader("Sec-Fetch-Site");
    if ("cross-site".equals(site) && !isLinkToThePage(request)) {
      return "requests from pages of other sites are refused";
    }
    return null;
  }

  /**
   * Returns true for a link to the page, for example in a wiki: the browser shows the page, and the
   * wiki learns nothing.
   */
  private static boolean isLinkToThePage(HttpServerRequest request) {
    return HttpMethod.GET.equals(request.method())
        && isPage(request.path())
        && "navigate".equals(request.getHeader("Sec-Fetch-Mode"))
        && "document".equals(request.getHeader("Sec-Fetch-Dest"));
  }

  /** Returns true for the page, or that of one of many schedulers. */
  private static boolean isPage(String path) {
    return "/".equals(path) || (path != null && path.matches("/s/[A-Za-z0-9._-]+/"));
  }

  private static boolean isOwn(String origin, String host) {
    try {
      URI uri = new URI(origin);
      String scheme = uri.getScheme();
      if (uri.getHost() == null || !("http".equals(scheme) || "https".equals(scheme))) {
        return false;
      }
      int standard = scheme.equals("http") ? 80 : 443;
      int originPort = uri.getPort() < 0 ? standard : uri.getPort();
      return bare(uri.getHost()).equals(bare(withoutPort(host)))
          && originPort == port(host, standard);
    } catch (URISyntaxException e) {
      return false;
    }
  }

  private static String withoutPort(String host) {
    if (host.startsWith("[")) {
      int end = host.indexOf(']');
      return end < 0 ? host : host.substring(0, end + 1);
    }
    int colon = host.lastIndexOf(':');
    return colon < 0 ? host : host.substring(0, colon);
  }

  private static int port(String host, int otherwise) {
    String port = host.substring(withoutPort(host).length());
    try {
      return port.isEmpty() ? otherwise : Integer.parseInt(port.substring(1));
    } catch (NumberFormatException e) {
      return -1;
    }
  }

  /** Normalizes a host: lower case, without brackets and without the trailing dot. */
  private static String bare(String host) {
    String bare = host.toLowerCase(Locale.ROOT);
    if (bare.startsWith("[") && bare.endsWith("]")) {
      bare = bare.substring(1, bare.length() - 1);
    }
    return bare.endsWith(".") ? bare.substring(0, bare.length() - 1) : bare;
  }
}
