package io.espalier.core.logs;

/**
 * What is to be stored as a line.
 *
 * @param invocation token of the attempt that wrote it; empty: none
 * @param timeMillis epoch milliseconds
 * @param text with its line end when the task wrote one; secrets are hidden already
 */
public record LogEntry(
    LogLine.Stream stream,
    String job,
    String node,
    String invocation,
    long timeMillis,
    String text) {}
