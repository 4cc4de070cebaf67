/** Read-only commands. */
@NullMarked
package io.espalier.cli.client.inspect;

import org.jspecify.annotations.NullMarked;
