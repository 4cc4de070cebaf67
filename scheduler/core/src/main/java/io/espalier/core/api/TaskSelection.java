package io.espalier.core.api;

/**
 * Tasks of one job that are to be changed.
 *
 * @param preview changes nothing, only says what it would
 * @param expect how many tasks the caller means to change: if it is another number, none is; -1:
 *     however many
 * @param author who asks; empty when nobody had to say
 * @param reason why; may be empty
 */
public record TaskSelection(
    String job,
    TaskSelector selector,
    boolean preview,
    long expect,
    String author,
    String reason) {}
