/** The command line: one class per command; exit codes are in {@link ExitCode}. */
@NullMarked
package io.espalier.server.cli;

import io.espalier.server.exit.ExitCode;
import org.jspecify.annotations.NullMarked;
