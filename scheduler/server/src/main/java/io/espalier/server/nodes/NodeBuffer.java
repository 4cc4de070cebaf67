package io.espalier.server.nodes;

import io.espalier.core.config.RoleFilter;
import io.espalier.core.json.Json;
import io.espalier.core.topology.NodeSink;
import io.espalier.core.topology.NodeSpec;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Records one answer of a node source, to be replayed while the source is not fetched or cannot
 * answer. It is packed: a few bytes per node in addition to its name. One thread writes it;
 * afterwards it is immutable.
 */
final class NodeBuffer implements NodeSink {
  private static final int CHUNK = 1 << 20;
  private static final int MARK_BYTES = 6;

  private static final int NO_LEVEL = Integer.MIN_VALUE;

  private static final int ENABLED = 1;
  private static final int SAME_PARENT = 2;
  private static final int NO_PARENT = 4;
  private static final int HAS_ROLE = 8;

  private final List<byte[]> chunks = new ArrayList<>();
  private final Indexed<Set<String>> tags = new Indexed<>();
  private final Indexed<Json.Obj> attributes = new Indexed<>();
  private final Indexed<String> roles = new Indexed<>();
  private Chunk open = new Chunk();
  private long count;
  private long digest;
  private @Nullable String lastParent;
  private int lastLevel = NO_LEVEL;
  private int lastParentLevel = -1;

  /** Distinct values in the order of their first use. */
  private static final class Indexed<T> {
    private final List<T> values = new ArrayList<>();
    private final Map<T, Integer> indexes = new HashMap<>();

    int of(T value) {
      return indexes.computeIfAbsent(
          value,
          fresh -> {
            values.add(fresh);
            return values.size() - 1;
          });
    }
  }

  /** A chunk of bytes being written. */
  private static final class Chunk extends ByteArrayOutputStream {
    Chunk() {
      super(256);
    }

    void number(int value) {
      int rest = value;
      while (rest > 0x7f) {
        write((rest & 0x7f) | 0x80);
        rest >>>= 7;
      }
      write(rest);
    }

    void text(String value) {
      byte[] bytes = value.getBytes(StandardCharsets.UTF_8);
      number(bytes.length);
      writeBytes(bytes);
    }
  }

  /** Reads the output of {@link Chunk}. */
  private static final class Reader {
    private final byte[] bytes;
    private int at;

    Reader(byte[] bytes) {
      this.bytes = bytes;
    }

    int number() {
      int value = 0;
      int shift = 0;
      while (true) {
        byte b = bytes[at++];
        value |= (b & 0x7f) << shift;
        if (b >= 0) {
          return value;
        }
        shift += 7;
      }
    }

    String text() {
      int length = number();
      String value = new String(bytes, at, length, StandardCharsets.UTF_8);
      at += length;
      return value;
    }
  }

  @Override
  public void add(NodeSpec node) {
    boolean sameParent =
        node.level() == lastLevel
            && node.parentLevel() == lastParentLevel
            && Objects.equals(node.parent(), lastParent);
    String parent = node.parent();
    open.write(
        (node.enabled() ? ENABLED : 0)
            | (sameParent ? SAME_PARENT : 0)
            | (parent == null ? NO_PARENT : 0)
            | (node.role().isEmpty() ? 0 : HAS_ROLE));
    if (!sameParent) {
      open.number(node.level());
      open.number(node.parentLevel());
      if (parent != null) {
        open.text(parent);
      }
      lastLevel = node.level();
      lastParentLevel = node.parentLevel();
      lastParent = parent;
    }
    open.text(node.name());
    open.number(tags.of(node.tags()));
    open.number(attributes.of(node.attributes()));
    if (!node.role().isEmpty()) {
      open.number(roles.of(node.role()));
    }
    count++;
    long self =
        LongHashSet.of(node.level(), node.name())
            + 3 * LongHashSet.of(node.parentLevel(), parent)
            + (node.enabled() ? 7 : 11)
            + 13L * node.tags().hashCode()
            + 17L * node.attributes().hashCode()
            + 19L * node.role().hashCode();
    digest = LongHashSet.of(digest, self);
    if (open.size() >= CHUNK) {
      flush();
    }
  }

  private void flush() {
    chunks.add(open.toByteArray());
    open = new Chunk();
    // Each chunk must be readable by itself.
    lastLevel = NO_LEVEL;
  }

  /**
   * Returns a recording of the wanted nodes only. Count and mark remain those of the complete
   * answer.
   */
  NodeBuffer only(Predicate<NodeSpec> wanted) {
    NodeBuffer shorter = new NodeBuffer();
    forEach(
        node -> {
          if (wanted.test(node)) {
            shorter.add(node);
          }
        });
    shorter.count = count;
    shorter.digest = digest;
    return shorter;
  }

  /** Returns the number of nodes of the answer; a replica counts once for each parent. */
  long count() {
    return count;
  }

  /** Returns a short fingerprint: equal for equal nodes, and most probably different for others. */
  String mark() {
    byte[] bytes = new byte[Long.BYTES];
    for (int i = 0; i < bytes.length; i++) {
      bytes[i] = (byte) (digest >>> (8 * i));
    }
    return HexFormat.of().formatHex(Arrays.copyOf(bytes, MARK_BYTES));
  }

  /** Calls the action for all recorded nodes, in order. */
  void forEach(Consumer<NodeSpec> action) {
    for (byte[] chunk : chunks) {
      play(chunk, action);
    }
    play(open.toByteArray(), action);
  }

  private void play(byte[] chunk, Consumer<NodeSpec> action) {
    Reader in = new Reader(chunk);
    int level = 0;
    int parentLevel = 0;
    String parent = null;
    while (in.at < chunk.length) {
      int flags = in.number();
      if ((flags & SAME_PARENT) == 0) {
        level = in.number();
        parentLevel = in.number();
        parent = (flags & NO_PARENT) == 0 ? in.text() : null;
      }
      String name = in.text();
      Set<String> nodeTags = tags.values.get(in.number());
      Json.Obj nodeAttributes = attributes.values.get(in.number());
      String role = (flags & HAS_ROLE) != 0 ? roles.values.get(in.number()) : RoleFilter.NONE;
      boolean enabled = (flags & ENABLED) != 0;
      action.accept(
          new NodeSpec(level, name, parent, parentLevel, enabled, nodeTags, nodeAttributes, role));
    }
  }
}
