/** The command line: {@link io.espalier.cli.Main}. */
@NullMarked
package io.espalier.cli;

import org.jspecify.annotations.NullMarked;
