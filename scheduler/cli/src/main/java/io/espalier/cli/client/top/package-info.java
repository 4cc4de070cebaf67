/** The live screen {@code espalier top}. */
@NullMarked
package io.espalier.cli.client.top;

import org.jspecify.annotations.NullMarked;
