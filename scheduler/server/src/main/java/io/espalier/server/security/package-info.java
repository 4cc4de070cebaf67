/** Tokens and certificates: of clients that call a scheduler, and of its HTTP listener. */
@NullMarked
package io.espalier.server.security;

import org.jspecify.annotations.NullMarked;
