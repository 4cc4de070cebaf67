/** The incremental scheduling core: which task may start now. */
@NullMarked
package io.espalier.core.scheduling;

import org.jspecify.annotations.NullMarked;
