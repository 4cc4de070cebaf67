/** Output on a terminal: tables, colours, widths, durations. */
@NullMarked
package io.espalier.server.cli.client.term;

import org.jspecify.annotations.NullMarked;
