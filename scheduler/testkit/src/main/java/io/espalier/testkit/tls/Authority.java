package io.espalier.testkit.tls;

import java.io.IOException;
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
    keytool("ca", "-ext bc:c");
    writeCertificate("ca");
  }

  /** Returns the file with its certificate (PEM). */
  public Path certificate() {
    return directory.resolve("ca.pem");
  }

  /** Creates a member, whose certificate names the loopback address. */
  public Member member(String name) throws IOException, InterruptedException {
    keytool(name, "-signer ca -ext san=ip:127.0.0.1,dns:localhost");
    Path certificate = writeCertificate(name);
    Path key = directory.resolve(name + ".key");
    Path both = directory.resolve(name + "-both.pem");
    try {
      Files.writeString(
          key, pem("PRIVATE KEY", store().getKey(name, PASSWORD.toCharArray()).getEncoded()));
    } catch (GeneralSecurityException e) {
      throw new IOException(e);
    }
    Files.writeString(both, Files.readString(key) + Files.readString(certificate));
    return new Member(certificate, key, both);
  }

  private Path writeCertificate(String name) throws IOException {
    try {
      return Files.writeString(
          directory.resolve(name + ".pem"),
          pem("CERTIFICATE", store().getCertificate(name).getEncoded()));
    } catch (GeneralSecurityException e) {
      throw new IOException(e);
    }
  }

  private static String pem(String what, byte[] encoded) {
    return "-----BEGIN %s-----\n%s\n-----END %s-----\n"
        .formatted(
            what, Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(encoded), what);
  }

  private KeyStore store() throws IOException, GeneralSecurityException {
    return KeyStore.getInstance(directory.resolve("store").toFile(), PASSWORD.toCharArray());
  }

  /** Makes a key pair and its certificate. Each call costs the start of a Java process. */
  private void keytool(String name, String more) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "keytool").toString());
    command.addAll(List.of("-J-XX:TieredStopAtLevel=1", "-J-XX:+UseSerialGC"));
    command.addAll(List.of("-genkeypair", "-alias", name, "-dname", "CN=" + name));
    command.addAll(List.of("-keyalg", "EC", "-validity", "10"));
    command.addAll(List.of(more.split(" ", -1)));
    command.addAll(
        List.of("-keystore", directory.resolve("store").toString(), "-storepass", PASSWORD));
    Process keytool = new ProcessBuilder(command).redirectErrorStream(true).start();
    String said = new String(keytool.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    if (keytool.waitFor() != 0) {
      throw new IOException(said);
    }
  }
}
