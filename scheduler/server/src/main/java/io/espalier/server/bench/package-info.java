/** Experiments that the program itself can run: {@code espalier bench}. */
@NullMarked
package io.espalier.server.bench;

import org.jspecify.annotations.NullMarked;
