package io.espalier.core.api;

/**
 * Which part of the node tree.
 *
 * @param root a node's name; empty: the instance
 * @param level the root's level; empty: the highest that has a node of that name
 * @param job whose tasks are counted; empty: those of all jobs
 * @param depth levels below the root, at most
 * @param limit nodes, at most, 1 to {@link #MOST}
 */
public record TreeQuery(String root, String level, String job, int depth, int limit) {
  public static final int MOST = 20_000;
}
