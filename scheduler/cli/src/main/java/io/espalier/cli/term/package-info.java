/** What is written on terminals: tables, colours, widths, times. */
@NullMarked
package io.espalier.cli.term;

import org.jspecify.annotations.NullMarked;
