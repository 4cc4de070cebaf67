package io.espalier.server.drill;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Reads what tasks wrote while they lived: lines {@code KIND TOKEN NODE}, appended to one file by
 * all invocations, S at the start, A again and again as long as any process of the invocation
 * lives, E at the end. The order of lines is the order of writes, so an older invocation that
 * writes after a newer one was alive beside it.
 */
final class Observer {
  private final Path file;

  Observer(Path file) {
    this.file = file;
  }

  /** What was wrong; empty when nothing was. */
  record Findings(List<String> violations, Set<String> ended, int invocations, int again) {}

  /** How many lines there are. */
  int length() {
    return lines().size();
  }

  private List<String> lines() {
    try {
      return Files.readAllLines(file);
    } catch (NoSuchFileException e) {
      return List.of();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
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

  /**
   * @param doneSince by node that the scheduler said was done: how many lines there were by then
   */
  Findings look(Map<String, Integer> doneSince) {
    List<String> violations = new ArrayList<>();
    Map<String, Token> newest = new HashMap<>();
    Map<String, Token> endedBy = new HashMap<>();
    Set<String> started = new HashSet<>();
    int again = 0;
    List<String> lines = lines();
    for (int i = 0; i < lines.size(); i++) {
      String[] words = lines.get(i).split(" ", -1);
      String node = words[2];
      Token token = Token.of(words[1]);
      Token before = newest.get(node);
      if (before != null && token.compareTo(before) < 0) {
        violations.add("line " + (i + 1) + ": " + token + " of " + node + " lives after " + before);
      } else {
        newest.put(node, token);
      }
      if (words[0].equals("S")) {
        if (!started.add(node + " " + words[1])) {
          violations.add("line " + (i + 1) + ": " + words[1] + " of " + node + " started twice");
        }
        again += before == null ? 0 : 1;
        Integer done = doneSince.get(node);
        if (done != null && i >= done) {
          violations.add("line " + (i + 1) + ": " + node + " was done and started again");
        }
      } else if (words[0].equals("E")) {
        endedBy.put(node, token);
      }
    }
    doneSince
        .keySet()
        .forEach(
            node -> {
              if (!endedBy.containsKey(node)) {
                violations.add(node + " is said to be done and never ended");
              }
            });
    return new Findings(violations, endedBy.keySet(), started.size(), again);
  }
}
