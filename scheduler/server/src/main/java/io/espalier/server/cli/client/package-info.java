/**
 * Commands that ask or tell a running scheduler something: what they have in common.
 *
 * <p>{@code inspect} has the commands that look, {@code operate} those that change something,
 * {@code top} the live screen, {@code term} what is printed on a terminal.
 */
@NullMarked
package io.espalier.server.cli.client;

import org.jspecify.annotations.NullMarked;
