package io.espalier.e2e;

import com.microsoft.playwright.Browser;
import com.microsoft.playwright.BrowserContext;
import com.microsoft.playwright.BrowserType;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.Playwright;
import com.microsoft.playwright.assertions.PlaywrightAssertions;
import com.microsoft.playwright.options.ColorScheme;
import io.espalier.core.json.Json;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;

/**
 * The machine's Chromium without a screen, as an operator's browser. Where it or Node is missing
 * the tests are skipped, loudly; with {@code ESPALIER_REQUIRE_BROWSER=1} they fail instead.
 */
final class Chromium implements AutoCloseable {
  static final String REQUIRED = "ESPALIER_REQUIRE_BROWSER";

  /** Where pictures of what was seen are left, for people. */
  static final Path PICTURES = Path.of("target", "screenshots");

  /** How long a page may take to show something: builders are slow. */
  private static final int PATIENCE_MILLIS = 30_000;

  private static final List<String> BROWSERS =
      List.of("chromium", "chromium-browser", "google-chrome");

  private final Playwright playwright;
  private final Browser browser;

  private Chromium(Playwright playwright, Browser browser) {
    this.playwright = playwright;
    this.browser = browser;
  }

  /** How the browser is held. */
  record Look(String name, int width, int height, ColorScheme scheme) {
    static final Look DESK = new Look("light", 1440, 900, ColorScheme.LIGHT);
    static final Look NIGHT = new Look("dark", 1440, 900, ColorScheme.DARK);
    static final Look TABLET = new Look("tablet", 800, 1280, ColorScheme.LIGHT);
    static final Look PHONE = new Look("phone", 400, 850, ColorScheme.LIGHT);
    static final Look WIDE = new Look("wide", 2560, 1440, ColorScheme.LIGHT);
    static final Look WALL = new Look("wall", 3840, 2160, ColorScheme.DARK);
  }

  static Chromium start() {
    Optional<Path> node = program("node");
    Optional<Path> chromium = BROWSERS.stream().flatMap(name -> program(name).stream()).findFirst();
    if (node.isEmpty() || chromium.isEmpty()) {
      String missing = node.isEmpty() ? "Node (node)" : "Chromium (" + BROWSERS + ")";
      if ("1".equals(System.getenv(REQUIRED))) {
        throw new AssertionError("no " + missing + ", but " + REQUIRED + "=1");
      }
      System.err.println("!!! browser tests are SKIPPED: there is no " + missing);
      Assumptions.abort("no " + missing);
    }
    PlaywrightAssertions.setDefaultAssertionTimeout(PATIENCE_MILLIS);
    Map<String, String> environment = new HashMap<>(System.getenv());
    environment.put("PLAYWRIGHT_NODEJS_PATH", node.orElseThrow().toString());
    environment.put("PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD", "1");
    Playwright playwright = Playwright.create(new Playwright.CreateOptions().setEnv(environment));
    try {
      return new Chromium(
          playwright,
          playwright
              .chromium()
              .launch(
                  new BrowserType.LaunchOptions()
                      .setExecutablePath(chromium.orElseThrow())
                      .setArgs(
                          List.of("--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"))));
    } catch (RuntimeException e) {
      playwright.close();
      throw e;
    }
  }

  private static Optional<Path> program(String name) {
    String path = System.getenv().getOrDefault("PATH", "");
    return Stream.of(path.split(File.pathSeparator, -1))
        .map(directory -> Path.of(directory, name))
        .filter(Files::isExecutable)
        .findFirst();
  }

  /** A window of its own, without anything that another one left. */
  Window open(String url, Look look) {
    BrowserContext context =
        browser.newContext(
            new Browser.NewContextOptions()
                .setViewportSize(look.width(), look.height())
                .setColorScheme(look.scheme())
                .setLocale("en-GB"));
    context.setDefaultTimeout(PATIENCE_MILLIS);
    return new Window(context, context.newPage(), url, look);
  }

  @Override
  public void close() {
    browser.close();
    playwright.close();
  }

  /** One window on one server. */
  static final class Window implements AutoCloseable {
    private final BrowserContext context;
    private final Page page;
    private final String url;
    private final Look look;
    private final List<String> complaints = new ArrayList<>();

    private Window(BrowserContext context, Page page, String url, Look look) {
      this.context = context;
      this.page = page;
      this.url = url;
      this.look = look;
      page.onPageError(complaints::add);
      page.onConsoleMessage(
          message -> {
            // The browser says so itself of each answer that is no success.
            if (message.type().equals("error")
                && !message.text().startsWith("Failed to load resource")) {
              complaints.add(message.text());
            }
          });
      page.onDialog(
          dialog -> {
            complaints.add("a dialog of the browser: " + dialog.message());
            dialog.dismiss();
          });
    }

    Page page() {
      return page;
    }

    /** Goes to a place, such as {@code #/workers}, and waits until its heading is there. */
    Page visit(String place) {
      String full = url + "/" + place;
      if (page.url().startsWith(url)) {
        page.evaluate("place => { location.hash = place; }", place);
      } else {
        page.navigate(full);
      }
      page.waitForSelector("main h1");
      return page;
    }

    /** What went wrong inside: errors of scripts, refusals of the content policy. */
    List<String> complaints() {
      return List.copyOf(complaints);
    }

    /** What the accessibility scan finds, a line each. */
    @SuppressWarnings("unchecked")
    List<String> barriers() {
      if (Boolean.FALSE.equals(page.evaluate("() => 'axe' in window"))) {
        page.evaluate(axe());
      }
      return (List<String>)
          page.evaluate(
              """
              async () => (await axe.run(document, {resultTypes: ['violations']})).violations
                .flatMap((v) => v.nodes.map((n) => `${v.id}: ${n.html.slice(0, 160)}: ${n.failureSummary}`))
              """);
    }

    /** Whether something is wider than the window. */
    boolean isTooWide() {
      return (Boolean)
          page.evaluate(
              "() => document.documentElement.scrollWidth > document.documentElement.clientWidth");
    }

    /** Leaves a picture of the whole page. */
    void picture(String name) {
      page.screenshot(
          new Page.ScreenshotOptions()
              .setFullPage(!look.equals(Look.WALL))
              .setPath(PICTURES.resolve(name + "-" + look.name() + ".png")));
    }

    @Override
    public void close() {
      context.close();
    }

    private static String axe() {
      try (InputStream in = Chromium.class.getResourceAsStream("/axe.min.js")) {
        if (in == null) {
          throw new AssertionError("axe-core is not on the class path");
        }
        return new String(in.readAllBytes(), StandardCharsets.UTF_8);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  /** A JSON text for a script, so that any name can be passed. */
  static String quoted(String text) {
    return Json.of(text).toString();
  }
}
