/** {@code espalier bench}: the paper's experiment, run in virtual time. */
@NullMarked
package io.espalier.cli.bench;

import org.jspecify.annotations.NullMarked;
