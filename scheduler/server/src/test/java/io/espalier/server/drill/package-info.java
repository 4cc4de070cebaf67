/** Real schedulers and workers, really broken, watched from outside. */
@NullMarked
package io.espalier.server.drill;

import org.jspecify.annotations.NullMarked;
