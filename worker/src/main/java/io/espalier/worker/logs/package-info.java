/** The file-based store of task logs. */
@NullMarked
package io.espalier.worker.logs;

import org.jspecify.annotations.NullMarked;
