/** Ends commands with exit codes and one-line failures. */
@NullMarked
package io.espalier.server.exit;

import org.jspecify.annotations.NullMarked;
