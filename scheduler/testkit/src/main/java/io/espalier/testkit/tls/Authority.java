package io.espalier.testkit.tls;

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

/** A certificate authority made with the JDK's keytool. For one thread. */
public final class Authority {
  private static final String PASSWORD = "password";

  private final Path directory;

  /**
   * Files of a member, in PEM.
   *
   * @param both certificate and key in one file
   */
  public record Member(Path certificate, Path key, Path both) {}

  /** Creates the authority, with its files in a directory. */
  public Authority(Path directory) throws IOException, InterruptedException {
    this.directory = directory;
    Files.createDirectories(directory);
    keytool("-genkeypair -alias ca -keyalg EC -dname CN=authority -ext bc:c -validity 10");
    keytool("-exportcert -alias ca -rfc -file FILES/ca.pem");
  }

  /** Returns the file with its certificate (PEM). */
  public Path certificate() {
    return directory.resolve("ca.pem");
  }

  /** Creates a member, whose certificate names the loopback address. */
  public Member member(String name)
      throws IOException, InterruptedException, GeneralSecurityException {
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
    Path certificate = directory.resolve(name + ".pem");
    Path both =
        Files.writeString(
            directory.resolve(name + "-both.pem"),
            Files.readString(keyFile) + Files.readString(certificate));
    return new Member(certificate, keyFile, both);
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
