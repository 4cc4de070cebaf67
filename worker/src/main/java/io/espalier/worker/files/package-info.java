/** Files that survive a power failure. The server uses it too. */
@NullMarked
package io.espalier.worker.files;

import org.jspecify.annotations.NullMarked;
