/** Sends commands and queries to many schedulers at once, and merges their answers. */
@NullMarked
package io.espalier.webui.fleet.action;

import org.jspecify.annotations.NullMarked;
