/**
 * What a task writes: the channels of its process, its lines, its status file and its share of the
 * log.
 */
@NullMarked
package io.espalier.worker.process.output;

import org.jspecify.annotations.NullMarked;
