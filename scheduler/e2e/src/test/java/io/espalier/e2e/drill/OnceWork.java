package io.espalier.e2e.drill;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Tasks that must run exactly once each, because nothing that ends one is done to them, and what
 * they write down: lines {@code KIND TOKEN NODE WORKER MILLIS}, S at the start, E at the end, V
 * when another invocation of the task is alive: each holds a lock as long as its process lives.
 */
final class OnceWork {
  private static final String TASK =
      """
      #!/usr/bin/perl
      use strict; use warnings;
      use Fcntl qw(:DEFAULT :flock); use Time::HiRes; use IO::Handle;
      my ($node, $status) = @ARGV;
      sub note {
        open(my $out, '>>', "SITE/work") or die $!;
        syswrite($out, sprintf("%s %s %s %s %d\\n", $_[0], $ENV{ESPALIER_TASK_TOKEN}, $node,
          $ENV{DRILL_WORKER}, Time::HiRes::time() * 1000));
        close($out);
      }
      sysopen(my $lock, "SITE/locks/$node", O_RDWR | O_CREAT) or die $!;
      note('V') unless flock($lock, LOCK_EX | LOCK_NB);
      note('S');
      my $sum = 0; $sum = ($sum * 31 + ord($_)) % 65521 for split(//, $node);
      Time::HiRes::sleep(0.3 + ($sum % 20) / 10 + ($sum % 50 ? 0 : 25));
      note('E');
      open(my $out, '>', $status) or die $!; print $out "done\\n"; close($out);
      """;

  private final Path site;

  /** Writes the program of the tasks into a directory, in which they also leave what they write. */
  OnceWork(Path site) throws IOException {
    this.site = site;
    Files.createDirectories(site.resolve("locks"));
    Files.writeString(task(), TASK.replace("SITE", site.toString()));
    Files.setPosixFilePermissions(task(), PosixFilePermissions.fromString("rwxr-xr-x"));
  }

  /** The program; it takes DRILL_WORKER from the environment. */
  Path task() {
    return site.resolve("task");
  }

  /** What has been written so far. */
  List<String> lines() {
    try {
      String text = Files.readString(site.resolve("work"), StandardCharsets.US_ASCII);
      // The last line may be half written.
      return text.substring(0, text.lastIndexOf('\n') + 1).lines().toList();
    } catch (NoSuchFileException e) {
      return List.of();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** What is wrong, once the scheduler has said that so many tasks are done. */
  List<String> violations(int tasks) {
    List<String> wrong = new ArrayList<>();
    Map<String, Integer> starts = new HashMap<>();
    Map<String, Integer> ends = new HashMap<>();
    for (String line : lines()) {
      String[] words = line.split(" ", -1);
      switch (words[0]) {
        case "S" -> starts.merge(words[2], 1, Integer::sum);
        case "E" -> ends.merge(words[2], 1, Integer::sum);
        default -> wrong.add("two at once: " + line);
      }
    }
    starts.forEach(
        (node, times) -> {
          if (times != 1) {
            wrong.add(
                node + " was started " + times + " times: a result was lost, or taken for so");
          }
        });
    if (starts.size() != tasks || ends.size() != tasks) {
      wrong.add(
          "all "
              + tasks
              + " are done, but "
              + starts.size()
              + " were started and "
              + ends.size()
              + " ended");
    }
    return wrong;
  }
}
