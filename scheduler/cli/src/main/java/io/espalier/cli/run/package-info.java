/** {@code espalier run}: its progress, and the summary at its end. */
@NullMarked
package io.espalier.cli.run;

import org.jspecify.annotations.NullMarked;
