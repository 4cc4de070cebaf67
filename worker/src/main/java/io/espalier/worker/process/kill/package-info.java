/**
 * Makes sure that no process outlives its task: the signals of a task, the journal of what was
 * started, the search for what has escaped, and the guard that kills when this process cannot.
 */
@NullMarked
package io.espalier.worker.process.kill;

import org.jspecify.annotations.NullMarked;
