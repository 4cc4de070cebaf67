/** Tests of tokens, certificates and binds from a client's side. */
@NullMarked
package io.espalier.server.access;

import org.jspecify.annotations.NullMarked;
