package io.espalier.webui.page;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.JarURLConnection;
import java.net.URISyntaxException;
import java.net.URL;
import java.net.URLConnection;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.jar.JarFile;
import java.util.stream.Stream;
import java.util.zip.CRC32;
import org.jspecify.annotations.Nullable;

/**
 * The files of the page, read once from the class path.
 *
 * <p>Everything below {@code ui/} has two paths: {@code /ui/FILE}, which a browser requests again
 * each time, and {@code /ui/VERSION/FILE}, which it may cache forever, because the version is a
 * checksum of all files. The modules import each other by relative paths and so stay in one
 * version; only the HTML names it.
 */
public final class Webroot {
  private static final String ROOT = "/webroot/";
  private static final String UI = "ui/";
  private static final String JARS = "/META-INF/resources/webjars/";

  private static final Map<String, String> TYPES =
      Map.of(
          "html", "text/html; charset=utf-8",
          "js", "text/javascript; charset=utf-8",
          "css", "text/css; charset=utf-8",
          "svg", "image/svg+xml",
          "json", "application/json; charset=utf-8",
          "png", "image/png",
          "txt", "text/plain; charset=utf-8",
          "woff2", "font/woff2");

  private final Map<String, StaticPage> pages = new LinkedHashMap<>();

  private Webroot() {}

  /** Returns all files by request path; {@code /} is {@code index.html}. */
  public static Map<String, StaticPage> pages() {
    Webroot webroot = new Webroot();
    Map<String, byte[]> files = new TreeMap<>();
    for (String name : names()) {
      files.put(name, read(ROOT + name));
    }
    files.put(UI + "lib/preact.js", module("preact", "dist/preact.module.js"));
    files.put(UI + "lib/hooks.js", module("preact", "hooks/dist/hooks.module.js"));
    webroot.add(files);
    return webroot.pages;
  }

  private void add(Map<String, byte[]> files) {
    CRC32 crc = new CRC32();
    files.forEach(
        (name, bytes) -> {
          crc.update(name.getBytes(StandardCharsets.UTF_8));
          crc.update(bytes);
        });
    String version = String.format(Locale.ROOT, "%08x", crc.getValue());
    files.forEach(
        (name, bytes) -> {
          if (name.startsWith(UI)) {
            pages.put("/" + name, new StaticPage(bytes, type(name), false));
            String kept = UI + version + "/" + name.substring(UI.length());
            pages.put("/" + kept, new StaticPage(bytes, type(name), true));
          } else if (name.endsWith(".html")) {
            byte[] versioned =
                text(bytes)
                    .replace("\"" + UI, "\"" + UI + version + "/")
                    .getBytes(StandardCharsets.UTF_8);
            String path = name.equals("index.html") ? "/" : "/" + name;
            pages.put(path, new StaticPage(versioned, type(name), false));
          } else {
            pages.put("/" + name, new StaticPage(bytes, type(name), false));
          }
        });
  }

  /** Returns an ES module of a WebJar, with imports that a browser can resolve. */
  private static byte[] module(String jar, String file) {
    String version = version(jar);
    return text(read(JARS + jar + "/" + version + "/" + file))
        .replace("from\"preact\"", "from\"./preact.js\"")
        .replaceAll("\n//# sourceMappingURL=\\S*", "")
        .getBytes(StandardCharsets.UTF_8);
  }

  private static String version(String jar) {
    String properties = "/META-INF/maven/org.webjars.npm/" + jar + "/pom.properties";
    return text(read(properties))
        .lines()
        .filter(line -> line.startsWith("version="))
        .map(line -> line.substring("version=".length()).trim())
        .findFirst()
        .orElseThrow(() -> new IllegalStateException("no version in " + properties));
  }

  static String type(String name) {
    String type = TYPES.get(name.substring(name.lastIndexOf('.') + 1));
    if (type == null) {
      throw new IllegalStateException("no content type is known for " + name);
    }
    return type;
  }

  /** Lists the names below {@code webroot/} in the jar or directory of this class. */
  private static Iterable<String> names() {
    URL index = Webroot.class.getResource(ROOT + "index.html");
    if (index == null) {
      throw new IllegalStateException("no resource " + ROOT + "index.html");
    }
    try {
      URLConnection connection = index.openConnection();
      return connection instanceof JarURLConnection jar
          ? inJar(jar)
          : inDirectory(Path.of(index.toURI()).getParent());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (URISyntaxException e) {
      throw new IllegalStateException(e);
    }
  }

  private static Iterable<String> inJar(JarURLConnection connection) throws IOException {
    connection.setUseCaches(false);
    String root = ROOT.substring(1);
    try (JarFile jar = connection.getJarFile()) {
      return jar.stream()
          .filter(entry -> !entry.isDirectory() && entry.getName().startsWith(root))
          .map(entry -> entry.getName().substring(root.length()))
          .toList();
    }
  }

  private static Iterable<String> inDirectory(@Nullable Path root) throws IOException {
    if (root == null) {
      throw new IllegalStateException("the page lies in no directory");
    }
    try (Stream<Path> files = Files.walk(root)) {
      return files
          .filter(Files::isRegularFile)
          .map(file -> root.relativize(file).toString().replace('\\', '/'))
          .toList();
    }
  }

  private static String text(byte[] bytes) {
    return new String(bytes, StandardCharsets.UTF_8);
  }

  static byte[] read(String resource) {
    try (InputStream in = Webroot.class.getResourceAsStream(resource)) {
      if (in == null) {
        throw new IllegalStateException("no resource " + resource);
      }
      return in.readAllBytes();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
