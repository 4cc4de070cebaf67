/** Certificates of the web server, reloaded when their files change. */
@NullMarked
package io.espalier.webui.tls;

import org.jspecify.annotations.NullMarked;
