package io.espalier.worker.call;

import io.espalier.core.config.keys.CallTypes;
import io.espalier.core.running.Call;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Replaces the placeholders of URLs. Names of nodes are foreign text: none may change which host is
 * called, or which path.
 */
final class UrlTemplate {
  private static final Pattern HOST = Pattern.compile("[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?");

  private UrlTemplate() {}

  /**
   * @throws IllegalArgumentException when a name cannot stand where its placeholder does
   */
  static URI expanded(String template, Call call) {
    int authority = template.indexOf("://") + 3;
    int path = template.length();
    for (int i = authority; i < template.length(); i++) {
      if ("/?#".indexOf(template.charAt(i)) >= 0) {
        path = i;
        break;
      }
    }
    StringBuilder url = new StringBuilder();
    Matcher placeholders = CallTypes.PLACEHOLDER.matcher(template);
    while (placeholders.find()) {
      String value = call.name(placeholders.group(1));
      String safe = placeholders.start() < path ? host(value) : segment(value);
      placeholders.appendReplacement(url, Matcher.quoteReplacement(safe));
    }
    placeholders.appendTail(url);
    try {
      return new URI(url.toString());
    } catch (URISyntaxException e) {
      throw new IllegalArgumentException("not a URL: " + e.getMessage(), e);
    }
  }

  /**
   * Replaces the placeholders of a host.
   *
   * @throws IllegalArgumentException when a name is not the name of a host
   */
  static String host(String template, Call call) {
    return CallTypes.PLACEHOLDER
        .matcher(template)
        .replaceAll(found -> Matcher.quoteReplacement(host(call.name(found.group(1)))));
  }

  private static String host(String name) {
    if (!HOST.matcher(name).matches()) {
      throw new IllegalArgumentException("\"" + name + "\" is not the name of a host");
    }
    return name;
  }

  private static String segment(String name) {
    if (name.isEmpty() || name.equals(".") || name.equals("..")) {
      throw new IllegalArgumentException("\"" + name + "\" cannot be a part of a URL");
    }
    return URLEncoder.encode(name, StandardCharsets.UTF_8).replace("+", "%20");
  }
}
