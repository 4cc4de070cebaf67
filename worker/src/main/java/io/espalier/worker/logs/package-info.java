/** The task log store in files. */
@NullMarked
package io.espalier.worker.logs;

import org.jspecify.annotations.NullMarked;
