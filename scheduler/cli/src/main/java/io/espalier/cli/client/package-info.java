/**
 * The common part of the commands that query or control a running scheduler.
 *
 * <p>{@code inspect} contains the read-only commands, {@code operate} those that change something,
 * {@code top} the live screen.
 */
@NullMarked
package io.espalier.cli.client;

import org.jspecify.annotations.NullMarked;
