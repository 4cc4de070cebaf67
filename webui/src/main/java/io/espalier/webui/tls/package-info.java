/** Certificates of the web server, read again when their files change. */
@NullMarked
package io.espalier.webui.tls;

import org.jspecify.annotations.NullMarked;
