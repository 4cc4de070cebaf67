/**
 * Shows many schedulers as one: queries them, merges their answers, and sends commands to all of
 * them.
 */
@NullMarked
package io.espalier.webui.fleet;

import org.jspecify.annotations.NullMarked;
