package io.espalier.webui.fleet;

import io.espalier.core.json.Json;
import io.espalier.core.json.Position;
import io.espalier.core.problem.Problem;
import io.espalier.core.problem.Result;
import io.espalier.webui.fleet.poll.SchedulerAddress;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.CRC32;

/**
 * Parses lists of schedulers: {@code HOST:PORT} or {@code http(s)://HOST:PORT}, optionally preceded
 * by {@code NAME=}, separated by blanks, commas, semicolons or lines; {@code #} begins a comment.
 */
public final class SchedulerLists {
  /** The maximum number of schedulers; a longer list is a mistake. */
  public static final int MOST = 20_000;

  private static final Pattern ENTRY = Pattern.compile("[^\\s,;]+");
  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._-]{0,99}");
  private static final Pattern HOST_PORT =
      Pattern.compile("(\\[[0-9A-Fa-f:.]+]|[A-Za-z0-9]([A-Za-z0-9._-]{0,252}))(:(\\d{1,5}))?");
  private static final String EXPECTED =
      "expected HOST:PORT or http://HOST:PORT, with NAME= in front if wanted";

  private SchedulerLists() {}

  /**
   * Parses a list. Every bad entry is a problem; the value contains the good ones.
   *
   * @param text at most some megabytes
   */
  public static Result<List<SchedulerAddress>> parse(String text) {
    Reading reading = new Reading();
    int number = 0;
    for (String line : text.split("\n", -1)) {
      number++;
      int comment = line.indexOf('#');
      Matcher entries = ENTRY.matcher(comment < 0 ? line : line.substring(0, comment));
      while (entries.find()) {
        reading.entry(entries.group(), new Position(number, entries.start() + 1));
      }
    }
    return new Result<>(List.copyOf(reading.byAddress.values()), reading.problems);
  }

  private static final class Reading {
    final Map<URI, SchedulerAddress> byAddress = new LinkedHashMap<>();
    final Map<String, URI> ids = new HashMap<>();
    final List<Problem> problems = new ArrayList<>();

    void entry(String entry, Position at) {
      int equals = entry.indexOf('=');
      String name = equals < 0 ? "" : entry.substring(0, equals);
      if (equals >= 0 && !NAME.matcher(name).matches()) {
        wrong(entry, at, "a name is letters, digits, dots, dashes and underscores", EXPECTED);
        return;
      }
      URI uri;
      try {
        uri = uri(entry.substring(equals + 1));
      } catch (IllegalArgumentException e) {
        wrong(entry, at, String.valueOf(e.getMessage()), EXPECTED);
        return;
      }
      if (byAddress.containsKey(uri)) {
        wrong(entry, at, "this scheduler is listed twice", "take one of the two away");
        return;
      }
      if (byAddress.size() >= MOST) {
        if (byAddress.size() == MOST && problems.stream().noneMatch(p -> p.path().equals("list"))) {
          problems.add(Problem.error("list", "there are more than " + MOST + " schedulers"));
        }
        return;
      }
      String shown = name.isEmpty() ? uri.getRawAuthority() : name;
      String id = safe(shown);
      if (ids.containsKey(id)) {
        if (!name.isEmpty()) {
          wrong(entry, at, "the name is used twice", "names are unique, in small letters too");
          return;
        }
        CRC32 crc = new CRC32();
        crc.update(uri.toString().getBytes(StandardCharsets.UTF_8));
        id = id + "-" + Long.toHexString(crc.getValue());
      }
      ids.put(id, uri);
      byAddress.put(uri, new SchedulerAddress(id, shown, uri));
    }

    private void wrong(String entry, Position at, String message, String hint) {
      problems.add(
          new Problem(
              Problem.Severity.ERROR,
              "",
              at,
              message,
              Json.of(shortened(withoutAccount(entry))).toString(),
              hint));
    }
  }

  private static URI uri(String text) {
    String scheme = "http";
    String rest = text;
    int slashes = text.indexOf("://");
    if (slashes >= 0) {
      scheme = text.substring(0, slashes).toLowerCase(Locale.ROOT);
      rest = text.substring(slashes + 3);
      if (!scheme.equals("http") && !scheme.equals("https")) {
        throw new IllegalArgumentException("it is neither http:// nor https://");
      }
      if (rest.endsWith("/")) {
        rest = rest.substring(0, rest.length() - 1);
      }
    }
    if (rest.contains("@")) {
      throw new IllegalArgumentException("accounts do not belong into the list; see --token-file");
    }
    if (rest.contains("/")) {
      throw new IllegalArgumentException("a scheduler has no path");
    }
    Matcher parts = HOST_PORT.matcher(rest);
    if (!parts.matches()) {
      throw new IllegalArgumentException("this is not HOST:PORT");
    }
    String port = parts.group(4);
    if (port == null && slashes < 0) {
      throw new IllegalArgumentException("the port is missing");
    }
    if (port != null && (Integer.parseInt(port) < 1 || Integer.parseInt(port) > 65_535)) {
      throw new IllegalArgumentException("a port is from 1 to 65535");
    }
    String standard = scheme.equals("https") ? "443" : "80";
    String host = parts.group(1).toLowerCase(Locale.ROOT);
    try {
      URI uri = new URI(scheme + "://" + host + ":" + (port == null ? standard : port));
      if (uri.getHost() == null) {
        throw new IllegalArgumentException("this is no name of a host");
      }
      return uri;
    } catch (URISyntaxException e) {
      throw new IllegalArgumentException("this is no name of a host", e);
    }
  }

  private static String safe(String name) {
    String safe = name.toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9._-]+", "-");
    return safe.matches("[.-].*") ? "s" + safe : safe;
  }

  private static String withoutAccount(String entry) {
    int at = entry.lastIndexOf('@');
    return at < 0 ? entry : "…" + entry.substring(at);
  }

  private static String shortened(String entry) {
    return entry.length() <= 120 ? entry : entry.substring(0, 120) + "…";
  }
}
