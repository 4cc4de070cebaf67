/** Read-only commands. */
@NullMarked
package io.espalier.server.cli.client.inspect;

import org.jspecify.annotations.NullMarked;
