/**
 * What the operating system says about processes, users and files, and the signals that it sends.
 * Knows nothing of tasks.
 */
@NullMarked
package io.espalier.worker.process.os;

import org.jspecify.annotations.NullMarked;
