@NullMarked
package io.espalier.webui.fleet;

import org.jspecify.annotations.NullMarked;
