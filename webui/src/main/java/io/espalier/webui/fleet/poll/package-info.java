/** Polls many schedulers, and keeps what each has answered last. */
@NullMarked
package io.espalier.webui.fleet.poll;

import org.jspecify.annotations.NullMarked;
