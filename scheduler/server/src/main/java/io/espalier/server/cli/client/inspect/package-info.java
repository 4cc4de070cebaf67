/** Commands that look and change nothing. */
@NullMarked
package io.espalier.server.cli.client.inspect;

import org.jspecify.annotations.NullMarked;
