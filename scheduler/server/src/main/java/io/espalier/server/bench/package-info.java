/** Built-in experiments: {@code espalier bench}. */
@NullMarked
package io.espalier.server.bench;

import org.jspecify.annotations.NullMarked;
