package io.espalier.core.api;

/**
 * A query for a part of the node tree.
 *
 * @param root name of the root node; empty: the instance
 * @param level level of the root; empty: the highest that has a node of that name
 * @param job job whose tasks are counted; empty: those of all jobs
 * @param depth maximum number of levels below the root
 * @param limit maximum number of nodes, 1 to {@link #MOST}
 */
public record TreeQuery(String root, String level, String job, int depth, int limit) {
  public static final int MOST = 20_000;
}
