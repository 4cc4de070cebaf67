/** Tests against a real server on a random port. */
@NullMarked
package io.espalier.webui;

import org.jspecify.annotations.NullMarked;
