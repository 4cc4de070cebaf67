/** The command line: one class per command; exit codes are in {@link ExitCode}. */
@NullMarked
package io.espalier.server.cli;

import org.jspecify.annotations.NullMarked;
