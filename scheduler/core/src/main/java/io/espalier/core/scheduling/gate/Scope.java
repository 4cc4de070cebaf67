package io.espalier.core.scheduling.gate;

/**
 * What a {@link Gate} closes, or whose limits are lowered. It consists of names, which need not be
 * known, so it outlives changes of the configuration and of the nodes.
 *
 * @param level the name of the level, for levels and nodes; otherwise empty
 * @param name the name of the job, queue, node or worker; otherwise empty
 * @param job the name of the job, where it is one job on a node; otherwise empty
 */
public record Scope(Kind kind, String level, String name, String job) {
  /** The kinds of scopes. */
  public enum Kind {
    /** All nodes. */
    ALL,
    /** All nodes of a level, without those below. */
    LEVEL,
    /** A node and everything below it. */
    NODE,
    /** A job on a node and everything below it. */
    JOB_ON_NODE,
    /** A job. */
    JOB,
    /** All jobs of a queue. */
    QUEUE,
    /** A worker, by its shard. */
    WORKER
  }

  public static Scope all() {
    return new Scope(Kind.ALL, "", "", "");
  }

  public static Scope level(String level) {
    return new Scope(Kind.LEVEL, level, "", "");
  }

  public static Scope node(String level, String node) {
    return new Scope(Kind.NODE, level, node, "");
  }

  public static Scope jobOnNode(String job, String level, String node) {
    return new Scope(Kind.JOB_ON_NODE, level, node, job);
  }

  public static Scope job(String job) {
    return new Scope(Kind.JOB, "", job, "");
  }

  public static Scope worker(String shard) {
    return new Scope(Kind.WORKER, "", shard, "");
  }

  public static Scope queue(String queue) {
    return new Scope(Kind.QUEUE, "", queue, "");
  }
}
