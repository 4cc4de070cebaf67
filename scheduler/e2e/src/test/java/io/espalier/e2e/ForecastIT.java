package io.espalier.e2e;

import static io.espalier.e2e.Site.at;
import static io.espalier.e2e.Site.number;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.awaitility.Awaitility.await;

import io.espalier.core.json.Json;
import io.espalier.e2e.Espalier.Ended;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Forecasts of a running scheduler, beside what it then does. */
@Tag("slow")
class ForecastIT {
  private static final int MOST = 44;

  /** One host with 24 disks and five with 4; every task sleeps. */
  private static Site site(Path directory) {
    return site(directory, "");
  }

  /** The same with further options of the job. */
  private static Site site(Path directory, String options) {
    StringBuilder hosts = new StringBuilder("\"h0\": [");
    for (int disk = 0; disk < 24; disk++) {
      hosts.append(disk == 0 ? "" : ", ").append("\"h0d").append(disk).append('"');
    }
    for (int host = 1; host <= 5; host++) {
      hosts.append("], \"h").append(host).append("\": [");
      for (int disk = 0; disk < 4; disk++) {
        hosts.append(disk == 0 ? "" : ", ");
        hosts.append("\"h").append(host).append('d').append(disk).append('"');
      }
    }
    return new Site(directory)
        .task("task.sh", "sleep 3")
        .config(
            """
            {"bistro_settings": {
              "nodes": {"levels": ["host", "disk"], "node_sources": [
                {"source": "manual", "prefs": {HOSTS]}}]},
              "resources": {"host": {"slots": {"limit": 2, "default": 1}}}},
             "bistro_job->scrub": {"owner": "e2e", "command": ["./task.sh"]OPTIONS}}
            """
                .replace("HOSTS", hosts)
                .replace("OPTIONS", options));
  }

  private static double value(Json json, String... path) {
    BigDecimal number = ((Json.Num) at(json, path)).value();
    return number.doubleValue();
  }

  @Test
  void what_is_forecast_comes_to_pass(@TempDir Path directory) throws Exception {
    Site site = site(directory);
    try (Espalier daemon = site.daemon()) {
      String[] server = {"--server", daemon.url()};
      await()
          .atMost(Duration.ofSeconds(100))
          .until(() -> site.notes().stream().filter(n -> n.what().equals("end")).count() >= 13);
      Json eta = site.espalier("eta", "scrub", "--json", server[0], server[1]).json();
      Ended simulated =
          site.espalier(
              "simulate",
              "--set",
              "host/h0.slots=4",
              "--plot",
              "use.svg",
              "--json",
              server[0],
              server[1]);
      assertThat(simulated.code()).as(simulated.stderr()).isZero();
      await()
          .atMost(Duration.ofSeconds(150))
          .until(() -> site.notes().stream().filter(n -> n.what().equals("end")).count() == MOST);
      long ended = site.notes().stream().mapToLong(Site.Note::nanos).max().orElse(0) / 1_000_000;

      Json first = ((Json.Arr) at(eta, "etas")).items().get(0);
      double left = ended - number(first, "at_ms");
      assertThat(value(first, "p50_seconds") * 1000).isCloseTo(left, within(0.15 * left));
      assertThat(at(first, "bottleneck", "node")).isEqualTo(Json.of("h0"));
      double now = value(simulated.json(), "now", "p50_ms");
      double real = ended - number(simulated.json(), "at_ms");
      assertThat(now).isCloseTo(real, within(0.1 * real));
      assertThat(value(simulated.json(), "then", "p50_ms")).isBetween(0.35 * now, 0.65 * now);
      assertThat(Files.readString(directory.resolve("use.svg"))).contains("host.slots");

      refused(site, daemon, "--set", "host.slotz=1", "did you mean \"slots\"?");
      refused(site, daemon, "--set", "host/h9.slots=1", "there is no node \"h9\"");
      refused(site, daemon, "--set", "disk.slots=1", "a resource of the level host");
      refused(site, daemon, "--set", "host.slots=-1", "whole number from 0");
      refused(site, daemon, "--brake", "h0=1.5", "from 0 (nothing starts) to below 1");
      refused(site, daemon, "--horizon", "3650d", "--horizon is at most 366d");
      refused(site, daemon, "--workers", "-1", "no workers");
      refused(site, daemon, "--resume", "scrubb", "did you mean \"scrub\"?");
      refused(site, daemon, "--resume", "scrub", "the job is not paused; no job is");
    }
  }

  @Test
  void a_deadline_at_risk_is_told_and_the_scheduler_goes_on(@TempDir Path directory)
      throws Exception {
    long deadline = System.currentTimeMillis() / 1000 + 3_600;
    // No host has three slots.
    Site site = site(directory, ", \"resources\": {\"slots\": 3}, \"complete_by\": " + deadline);
    try (Espalier daemon = site.daemon()) {
      String[] events = {"events", "--kind", "deadline_at_risk", "--json"};
      await()
          .atMost(Duration.ofSeconds(100))
          .until(
              () ->
                  site.espalier(
                          events[0], events[1], events[2], events[3], "--server", daemon.url())
                      .stdout()
                      .contains("44 of its tasks do not end as things are"));
      Ended braked = site.espalier("brake", "--server", daemon.url());
      assertThat(braked.code()).as(braked.stderr()).isZero();
    }
  }

  @Test
  void a_paused_job_ends_never_unless_its_pause_ends(@TempDir Path directory) throws Exception {
    Site site = site(directory);
    try (Espalier daemon = site.daemon()) {
      String[] server = {"--server", daemon.url()};
      await()
          .atMost(Duration.ofSeconds(100))
          .until(() -> site.notes().stream().anyMatch(n -> n.what().equals("end")));
      assertThat(site.espalier("pause", "scrub", server[0], server[1]).code()).isZero();
      Ended paused = site.espalier("simulate", "--resume", "scrub", "--json", server[0], server[1]);
      assertThat(paused.code()).as(paused.stderr()).isZero();
      Json json = paused.json();
      assertThat(at(json, "paused", "0", "job")).isEqualTo(Json.of("scrub"));
      assertThat(number(json, "now", "jobs", "scrub", "never")).isGreaterThan(10);
      assertThat(at(json, "now", "starved")).isEqualTo(Json.strings(List.of("scrub")));
      assertThat(number(json, "then", "jobs", "scrub", "never")).isZero();
      assertThat(value(json, "then", "p50_ms")).isGreaterThan(10_000);

      Ended timed = site.espalier("pause", "scrub", "--for", "1h", server[0], server[1]);
      assertThat(timed.code()).as(timed.stderr()).isZero();
      Ended text = site.espalier("simulate", server[0], server[1]);
      assertThat(text.code()).as(text.stderr()).isZero();
      assertThat(text.stdout()).contains("paused: scrub (resumes in 59m").doesNotContain("starved");
    }
  }

  private static void refused(Site site, Espalier daemon, String option, String text, String why) {
    Ended ended = site.espalier("simulate", option, text, "--server", daemon.url());
    assertThat(ended.code()).as(ended.stderr()).isEqualTo(2);
    assertThat(ended.stderr()).contains(why);
  }
}
