/** Hands subtrees over between running schedulers. */
@NullMarked
package io.espalier.server.app.subtrees;

import org.jspecify.annotations.NullMarked;
