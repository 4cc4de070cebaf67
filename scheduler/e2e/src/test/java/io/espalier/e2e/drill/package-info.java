/** Real schedulers and workers, really broken, watched from outside. */
@NullMarked
package io.espalier.e2e.drill;

import org.jspecify.annotations.NullMarked;
