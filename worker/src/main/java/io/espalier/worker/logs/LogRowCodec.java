package io.espalier.worker.logs;

import io.espalier.core.logs.LogLine;
import io.espalier.core.logs.LogLine.Stream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Encodes lines as bytes: a table of the tasks that wrote them, then each line with its id and time
 * relative to the previous line. Decoding creates no strings for texts, so lines that a query skips
 * cost little.
 */
final class LogRowCodec {
  private static final Stream[] STREAMS = Stream.values();

  private final byte[] data;
  private final String[] jobs;
  private final String[] nodes;
  private final String[] invocations;
  private final long[] ids;
  private final long[] times;
  private final int[] tasks;
  private final int[] textStarts;
  private final int[] textLengths;
  private int at;

  private record Task(String job, String node, String invocation) {}

  /**
   * @param lines lines with increasing ids
   */
  static byte[] encode(List<LogLine> lines) {
    Map<Task, Integer> known = new HashMap<>();
    Out tasks = new Out();
    Out rows = new Out();
    long id = 0;
    long time = 0;
    Task last = new Task("", "", "");
    int lastNumber = -1;
    for (LogLine line : lines) {
      // Lines of a task tend to be adjacent.
      if (lastNumber < 0
          || !last.node.equals(line.node())
          || !last.invocation.equals(line.invocation())
          || !last.job.equals(line.job())) {
        last = new Task(line.job(), line.node(), line.invocation());
        Integer number = known.get(last);
        if (number == null) {
          number = known.size();
          known.put(last, number);
          tasks.text(last.job);
          tasks.text(last.node);
          tasks.text(last.invocation);
        }
        lastNumber = number;
      }
      rows.number(line.id() - id);
      rows.number(zigzag(line.timeMillis() - time));
      rows.number((long) lastNumber * STREAMS.length + code(line.stream()));
      rows.text(line.text());
      id = line.id();
      time = line.timeMillis();
    }
    Out all = new Out();
    all.number(known.size());
    all.writeBytes(tasks.toByteArray());
    all.number(lines.size());
    all.writeBytes(rows.toByteArray());
    return all.toByteArray();
  }

  /** The code of a stream in files; never the ordinal. */
  static int code(Stream stream) {
    return switch (stream) {
      case STDOUT -> 0;
      case STDERR -> 1;
      case STATUSES -> 2;
    };
  }

  /**
   * @throws IOException when the bytes are not encoded lines
   */
  LogRowCodec(byte[] data) throws IOException {
    this.data = data;
    try {
      int taskCount = count();
      jobs = new String[taskCount];
      nodes = new String[taskCount];
      invocations = new String[taskCount];
      for (int i = 0; i < taskCount; i++) {
        jobs[i] = text();
        nodes[i] = text();
        invocations[i] = text();
      }
      int lines = count();
      ids = new long[lines];
      times = new long[lines];
      tasks = new int[lines];
      textStarts = new int[lines];
      textLengths = new int[lines];
      long id = 0;
      long time = 0;
      for (int i = 0; i < lines; i++) {
        id += number();
        time += unzigzag(number());
        ids[i] = id;
        times[i] = time;
        tasks[i] = (int) number();
        if (tasks[i] < 0 || tasks[i] / STREAMS.length >= taskCount) {
          throw new IOException("a line of no task");
        }
        int length = count();
        textStarts[i] = at;
        textLengths[i] = length;
        at += length;
      }
    } catch (IndexOutOfBoundsException e) {
      throw new IOException("lines are cut off", e);
    }
  }

  int size() {
    return ids.length;
  }

  long id(int row) {
    return ids[row];
  }

  long time(int row) {
    return times[row];
  }

  Stream stream(int row) {
    return STREAMS[tasks[row] % STREAMS.length];
  }

  String job(int row) {
    return jobs[tasks[row] / STREAMS.length];
  }

  String node(int row) {
    return nodes[tasks[row] / STREAMS.length];
  }

  String invocation(int row) {
    return invocations[tasks[row] / STREAMS.length];
  }

  String text(int row) {
    return new String(data, textStarts[row], textLengths[row], StandardCharsets.UTF_8);
  }

  LogLine line(int row) {
    return new LogLine(
        id(row), stream(row), job(row), node(row), invocation(row), time(row), text(row));
  }

  private String text() throws IOException {
    int length = count();
    String text = new String(data, at, length, StandardCharsets.UTF_8);
    at += length;
    return text;
  }

  /** Reads a count of items that take at least one byte each. */
  private int count() throws IOException {
    long count = number();
    if (count < 0 || count > data.length - at) {
      throw new IOException("a count of " + count + " with " + (data.length - at) + " bytes left");
    }
    return (int) count;
  }

  private long number() {
    long number = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      byte next = data[at++];
      number |= (long) (next & 0x7f) << shift;
      if (next >= 0) {
        break;
      }
    }
    return number;
  }

  private static long zigzag(long number) {
    return number << 1 ^ number >> 63;
  }

  private static long unzigzag(long number) {
    return number >>> 1 ^ -(number & 1);
  }

  private static final class Out extends ByteArrayOutputStream {
    Out() {
      super(4096);
    }

    void number(long number) {
      long left = number;
      while ((left & ~0x7fL) != 0) {
        write((int) ((left & 0x7f) | 0x80));
        left >>>= 7;
      }
      write((int) left);
    }

    void text(String text) {
      byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
      number(bytes.length);
      writeBytes(bytes);
    }
  }
}
