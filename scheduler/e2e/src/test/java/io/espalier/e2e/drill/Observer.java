package io.espalier.e2e.drill;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Reads what tasks wrote while they lived: lines {@code KIND TOKEN NODE WORKER MILLIS}, appended to
 * one file by all invocations: S at the start, A again and again as long as any process of the
 * invocation lives, E at the end, V at the start when another invocation still held the lock of the
 * task. The order of lines is the order of writes, so an older invocation that writes after a newer
 * one was alive beside it.
 */
final class Observer {
  /** A whole line, after what a process wrote of another one before it was killed. */
  private static final Pattern LINE =
      Pattern.compile("(?:[SAVE].*)?([SAVE] \\d+\\.\\d+ \\S+ \\S+ \\d{13})");

  private final Path file;
  private final int limitPerHost;

  /**
   * @param limitPerHost how many tasks may run at once for one data host, the name of a node up to
   *     its dot
   */
  Observer(Path file, int limitPerHost) {
    this.file = file;
    this.limitPerHost = limitPerHost;
  }

  /**
   * What came of it.
   *
   * @param violations what was wrong; empty when nothing was
   * @param again how many invocations were not the first of their task
   */
  record Findings(List<String> violations, List<Life> lives, int again) {}

  /** The life of one invocation, as far as it left traces. */
  static final class Life {
    final String token;
    final String node;
    final String worker;
    final long startMillis;
    final int firstLine;
    int lastLine;
    long lastMillis;
    boolean ended;

    private Life(String token, String node, String worker, long startMillis, int firstLine) {
      this.token = token;
      this.node = node;
      this.worker = worker;
      this.startMillis = startMillis;
      this.firstLine = firstLine;
    }

    @Override
    public String toString() {
      return node
          + " "
          + token
          + " on "
          + worker
          + " lines "
          + firstLine
          + " to "
          + lastLine
          + ", "
          + startMillis
          + " to "
          + lastMillis
          + (ended ? ", ended" : ", cut short");
    }
  }

  private record Token(long epoch, long sequence) implements Comparable<Token> {
    static Token of(String text) {
      int dot = text.indexOf('.');
      return new Token(
          Long.parseLong(text.substring(0, dot)), Long.parseLong(text.substring(dot + 1)));
    }

    @Override
    public int compareTo(Token other) {
      int byEpoch = Long.compare(epoch, other.epoch);
      return byEpoch != 0 ? byEpoch : Long.compare(sequence, other.sequence);
    }
  }

  /** How much has been written. */
  long length() {
    try {
      return Files.size(file);
    } catch (NoSuchFileException e) {
      return 0;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * @param doneSince by node that the scheduler said was done: how much had been written by then
   * @param tokens by node the invocation whose result the scheduler says it has
   */
  Findings look(Map<String, Long> doneSince, Map<String, String> tokens) {
    List<String> violations = new ArrayList<>();
    Map<String, Life> newest = new HashMap<>();
    Map<String, Life> lives = new LinkedHashMap<>();
    Set<String> ended = new HashSet<>();
    int again = 0;
    int number = 0;
    long offset = 0;
    for (String line : lines()) {
      number++;
      String at = "line " + number + ": ";
      Matcher whole = LINE.matcher(line);
      if (!whole.matches()) {
        violations.add(at + "not understood: " + line);
        continue;
      }
      String[] words = whole.group(1).split(" ", -1);
      String node = words[2];
      String id = node + " " + words[1];
      Life before = newest.get(node);
      Life life = lives.get(id);
      switch (words[0]) {
        case "S" -> {
          if (life != null) {
            violations.add(at + "started twice: " + line);
          }
          if (before != null && Token.of(words[1]).compareTo(Token.of(before.token)) <= 0) {
            violations.add(at + "the token does not grow: " + line + " after " + before);
          }
          again += before == null ? 0 : 1;
          Long done = doneSince.get(node);
          if (done != null && offset + whole.start(1) >= done) {
            violations.add(at + "was done and is started again: " + line);
          }
          life = new Life(words[1], node, words[3], Long.parseLong(words[4]), number);
          lives.put(id, life);
          newest.put(node, life);
        }
        case "V" -> violations.add(at + "another invocation holds the lock: " + line);
        case "A", "E" -> {
          if (life == null) {
            violations.add(at + "lives without having started: " + line);
          } else if (life != before) {
            violations.add(at + "lives on: " + life + ", when there is " + before);
          }
          if (words[0].equals("E")) {
            ended.add(id);
          }
        }
        default -> violations.add(at + "not understood: " + line);
      }
      if (life != null) {
        life.lastLine = number;
        life.lastMillis = Long.parseLong(words[4]);
        life.ended |= words[0].equals("E");
      }
      offset += line.length() + 1;
    }
    limits(lives.values().stream().toList(), violations);
    for (String node : doneSince.keySet()) {
      String token = tokens.get(node);
      if (token == null) {
        violations.add(node + " is said to be done, and by no invocation");
      } else if (!ended.contains(node + " " + token)) {
        violations.add(node + " is said to be done by " + token + ", which never ended");
      }
    }
    return new Findings(violations, List.copyOf(lives.values()), again);
  }

  /** At each start: how many for the same host are there that still write something later. */
  private void limits(List<Life> lives, List<String> violations) {
    for (Life one : lives) {
      String host = one.node.substring(0, one.node.indexOf('.') + 1);
      List<Life> beside =
          lives.stream()
              .filter(other -> other.node.startsWith(host))
              .filter(other -> other.firstLine <= one.firstLine && other.lastLine >= one.firstLine)
              .toList();
      if (beside.size() > limitPerHost) {
        violations.add("more than " + limitPerHost + " at once: " + beside);
      }
    }
  }

  /** All lines of a node. */
  List<String> linesOf(@Nullable String node) {
    return lines().stream().filter(line -> line.contains(" " + node + " ")).toList();
  }

  private List<String> lines() {
    try {
      return Files.readAllLines(file, StandardCharsets.US_ASCII);
    } catch (NoSuchFileException e) {
      return List.of();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
