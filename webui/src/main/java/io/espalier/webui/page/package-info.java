/** Serves the files of the page. */
@NullMarked
package io.espalier.webui.page;

import org.jspecify.annotations.NullMarked;
