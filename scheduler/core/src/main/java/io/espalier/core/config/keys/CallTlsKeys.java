package io.espalier.core.config.keys;

import static io.espalier.core.config.schema.ValueType.optional;
import static io.espalier.core.config.schema.ValueType.text;

import io.espalier.core.config.schema.ConfigObject;
import io.espalier.core.config.schema.Key;
import io.espalier.core.config.schema.Section;
import io.espalier.core.config.schema.ValueType;
import io.espalier.core.config.task.CallTls;
import java.util.Optional;
import java.util.regex.Pattern;

/** The keys of TLS to a service that tasks call (docs/calls.md#tls). */
public final class CallTlsKeys {
  /** {@code call.http.tls} and {@code call.thrift.tls}. */
  public static final Section<CallTls> TLS =
      new Section<>(
          "tls",
          "The files of TLS to a service: PEM, read when they have changed, on the host that makes"
              + " the call.",
          CallTls.USUAL) {
        private final Key<CallTls, Optional<String>> caFile =
            key(
                    "ca_file",
                    file(),
                    CallTls::caFile,
                    "The service must have a certificate of one of these authorities; without it,"
                        + " of one that Java trusts.")
                .writtenUnless(Optional.empty());
        private final Key<CallTls, Optional<String>> certFile =
            key(
                    "cert_file",
                    file(),
                    CallTls::certFile,
                    "The certificate that is shown to a service which asks for one, with its"
                        + " chain.")
                .writtenUnless(Optional.empty());
        private final Key<CallTls, Optional<String>> keyFile =
            key(
                    "key_file",
                    file(),
                    CallTls::keyFile,
                    "The key of that certificate: unencrypted, PKCS#8.")
                .writtenUnless(Optional.empty());

        @Override
        public CallTls read(ConfigObject in, CallTls base) {
          if (in.has(certFile) != in.has(keyFile)) {
            in.value()
                .error(
                    "a certificate needs its key, and a key its certificate",
                    "give both \"cert_file\" and \"key_file\"");
          }
          return new CallTls(in.get(caFile, base), in.get(certFile, base), in.get(keyFile, base));
        }
      };

  private CallTlsKeys() {}

  /** The path of a file on the host that makes the call. */
  static ValueType<Optional<String>> file() {
    return optional(text(Pattern.compile("/.*"), "expected an absolute path"), "/");
  }
}
