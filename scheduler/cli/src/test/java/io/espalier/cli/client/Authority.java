package io.espalier.cli.client;

import io.espalier.server.security.TlsFiles;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Optional;

/** A certificate authority made with the JDK's keytool. */
final class Authority {
  private static final String PASSWORD = "password";

  private final Path directory;

  Authority(Path directory) throws IOException, InterruptedException {
    this.directory = directory;
    Files.createDirectories(directory);
    keytool("-genkeypair -alias ca -keyalg EC -dname CN=authority -ext bc:c -validity 10");
    keytool("-exportcert -alias ca -rfc -file FILES/ca.pem");
  }

  Path certificate() {
    return directory.resolve("ca.pem");
  }

  /** A member's files; its certificate is good for the loopback address. */
  TlsFiles member(String name) throws IOException, InterruptedException, GeneralSecurityException {
    keytool("-genkeypair -alias NAME -keyalg EC -dname CN=NAME -validity 10".replace("NAME", name));
    keytool("-certreq -alias NAME -file FILES/NAME.csr".replace("NAME", name));
    keytool(
        ("-gencert -alias ca -rfc -validity 10 -ext san=ip:127.0.0.1,dns:localhost"
                + " -infile FILES/NAME.csr -outfile FILES/NAME.pem")
            .replace("NAME", name));
    KeyStore store = KeyStore.getInstance("PKCS12");
    try (InputStream in = Files.newInputStream(directory.resolve("store"))) {
      store.load(in, PASSWORD.toCharArray());
    }
    byte[] key = store.getKey(name, PASSWORD.toCharArray()).getEncoded();
    Path keyFile =
        Files.writeString(
            directory.resolve(name + ".key"),
            "-----BEGIN PRIVATE KEY-----\n"
                + Base64.getMimeEncoder().encodeToString(key)
                + "\n-----END PRIVATE KEY-----\n");
    return new TlsFiles(directory.resolve(name + ".pem"), keyFile, Optional.of(certificate()));
  }

  private void keytool(String arguments) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "keytool").toString());
    for (String argument : arguments.split(" ", -1)) {
      command.add(argument.replace("FILES", directory.toString()));
    }
    command.addAll(
        List.of(
            "-keystore",
            directory.resolve("store").toString(),
            "-storepass",
            PASSWORD,
            "-keypass",
            PASSWORD));
    Process keytool = new ProcessBuilder(command).redirectErrorStream(true).start();
    String said = new String(keytool.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    if (keytool.waitFor() != 0) {
      throw new IOException(said);
    }
  }
}
