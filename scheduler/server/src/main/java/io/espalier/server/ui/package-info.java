/** The process that shows many schedulers as one. */
@NullMarked
package io.espalier.server.ui;

import org.jspecify.annotations.NullMarked;
