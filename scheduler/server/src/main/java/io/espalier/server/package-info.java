/** The program: {@link io.espalier.server.Main}. */
@NullMarked
package io.espalier.server;

import org.jspecify.annotations.NullMarked;
