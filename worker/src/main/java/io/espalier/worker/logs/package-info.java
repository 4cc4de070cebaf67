/** The task log store on SQLite. */
@NullMarked
package io.espalier.worker.logs;

import org.jspecify.annotations.NullMarked;
