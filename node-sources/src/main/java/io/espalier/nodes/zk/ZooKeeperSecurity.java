package io.espalier.nodes.zk;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import javax.net.ssl.SSLContext;
import org.apache.curator.framework.AuthInfo;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.api.ACLProvider;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.client.ZKClientConfig;
import org.apache.zookeeper.common.ClientX509Util;
import org.apache.zookeeper.common.X509Exception;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Id;

/**
 * Describes how a client proves who it is to ZooKeeper, encrypts what it sends, and who may read
 * what it writes. Read from a file of lines:
 *
 * <pre>
 * digest espalier:secret            the account: a scheme and its credentials
 * read digest workers:HASH=         who else may read what this account creates
 * tls-ca ca.pem                     TLS, to servers with a certificate of this authority
 * tls-cert member.pem               certificate and key of this client, in one file
 * </pre>
 *
 * <p>All are optional; {@code read} needs an account, {@code tls-cert} needs {@code tls-ca}. Blank
 * lines and lines that begin with {@code #} are skipped. Relative paths start at the directory of
 * the file. Immutable.
 */
public final class ZooKeeperSecurity {
  /** No account and no TLS: everybody may change what is created. */
  public static final ZooKeeperSecurity NONE =
      new ZooKeeperSecurity(List.of(), List.of(), Optional.empty(), Optional.empty());

  private static final int MAX_FILE_BYTES = 64 * 1024;

  private final List<AuthInfo> account;
  private final List<ACL> readers;
  private final Optional<Path> authority;
  private final Optional<Path> certificate;

  private ZooKeeperSecurity(
      List<AuthInfo> account,
      List<ACL> readers,
      Optional<Path> authority,
      Optional<Path> certificate) {
    this.account = List.copyOf(account);
    this.readers = List.copyOf(readers);
    this.authority = authority;
    this.certificate = certificate;
  }

  /**
   * Reads the file.
   *
   * @throws IOException when it cannot be read or is invalid; the message names all invalid lines,
   *     and no credentials
   */
  public static ZooKeeperSecurity read(Path file) throws IOException {
    if (Files.size(file) > MAX_FILE_BYTES) {
      throw new IOException("the file with the account is too long: " + file);
    }
    Lines lines = new Lines(file);
    int number = 0;
    for (String line : Files.readAllLines(file, StandardCharsets.UTF_8)) {
      number++;
      if (!line.isBlank() && !line.startsWith("#")) {
        lines.add(number, line.strip());
      }
    }
    return lines.finish();
  }

  /** Applies account, access rules and TLS to a client that is being built. */
  public void applyTo(CuratorFrameworkFactory.Builder builder) {
    if (!account.isEmpty()) {
      builder.authorization(account).aclProvider(new CreatorAndReaders(readers));
    }
    if (isEncrypted()) {
      // The ensemble's own list of its members has their ports without TLS.
      builder.zkClientConfig(clientConfig()).ensembleTracker(false);
    }
  }

  /** Whether servers are spoken to over TLS. */
  public boolean isEncrypted() {
    return authority.isPresent();
  }

  /**
   * Creates the TLS context for connections that do not belong to a client.
   *
   * @return empty without TLS
   * @throws IOException when a file is invalid
   */
  public Optional<SSLContext> context() throws IOException {
    if (!isEncrypted()) {
      return Optional.empty();
    }
    try (ClientX509Util tls = new ClientX509Util()) {
      return Optional.of(tls.createSSLContext(clientConfig()));
    } catch (X509Exception e) {
      throw new IOException("TLS for ZooKeeper: " + e.getMessage(), e);
    }
  }

  private ZKClientConfig clientConfig() {
    ZKClientConfig config = new ZKClientConfig();
    config.setProperty(ZKClientConfig.SECURE_CLIENT, "true");
    config.setProperty(
        ZKClientConfig.ZOOKEEPER_CLIENT_CNXN_SOCKET, "org.apache.zookeeper.ClientCnxnSocketNetty");
    try (ClientX509Util tls = new ClientX509Util()) {
      authority.ifPresent(
          file -> {
            config.setProperty(tls.getSslTruststoreLocationProperty(), file.toString());
            config.setProperty(tls.getSslTruststoreTypeProperty(), "PEM");
          });
      certificate.ifPresent(
          file -> {
            config.setProperty(tls.getSslKeystoreLocationProperty(), file.toString());
            config.setProperty(tls.getSslKeystoreTypeProperty(), "PEM");
          });
    }
    return config;
  }

  /** Gives an account exclusive access to what it created, but for those who may read it. */
  private record CreatorAndReaders(List<ACL> readers) implements ACLProvider {
    @Override
    public List<ACL> getDefaultAcl() {
      List<ACL> all = new ArrayList<>(ZooDefs.Ids.CREATOR_ALL_ACL);
      all.addAll(readers);
      return all;
    }

    @Override
    public List<ACL> getAclForPath(String path) {
      return getDefaultAcl();
    }
  }

  /** Collects the lines of a file and what is wrong with them. */
  private static final class Lines {
    private final Path file;
    private final List<String> problems = new ArrayList<>();
    private final List<AuthInfo> account = new ArrayList<>();
    private final List<ACL> readers = new ArrayList<>();
    private Optional<Path> authority = Optional.empty();
    private Optional<Path> certificate = Optional.empty();

    Lines(Path file) {
      this.file = file;
    }

    void add(int number, String line) {
      int blank = line.indexOf(' ');
      String word = blank < 0 ? line : line.substring(0, blank);
      String rest = blank < 0 ? "" : line.substring(blank + 1).strip();
      if (rest.isEmpty()) {
        problems.add(
            "line "
                + number
                + " does not hold a scheme and an account, such as: digest NAME:PASSWORD");
      } else if (word.equals("read")) {
        reader(number, rest);
      } else if (word.equals("tls-ca")) {
        authority = path(number, word, rest, authority);
      } else if (word.equals("tls-cert")) {
        certificate = path(number, word, rest, certificate);
      } else if (word.startsWith("tls")) {
        problems.add("line " + number + " begins with " + word + "; there are tls-ca and tls-cert");
      } else if (!account.isEmpty()) {
        problems.add("line " + number + " is a second account");
      } else {
        account.add(new AuthInfo(word, rest.getBytes(StandardCharsets.UTF_8)));
      }
    }

    private void reader(int number, String rest) {
      int blank = rest.indexOf(' ');
      if (blank < 0) {
        problems.add("line " + number + " names no reader, such as: read digest NAME:HASH");
      } else {
        Id id = new Id(rest.substring(0, blank), rest.substring(blank + 1).strip());
        readers.add(new ACL(ZooDefs.Perms.READ, id));
      }
    }

    private Optional<Path> path(int number, String word, String rest, Optional<Path> known) {
      if (known.isPresent()) {
        problems.add("line " + number + " is a second " + word);
        return known;
      }
      try {
        Path named = file.toAbsolutePath().resolveSibling(rest);
        if (!Files.isReadable(named)) {
          problems.add("line " + number + ": " + named + " cannot be read");
        }
        return Optional.of(named);
      } catch (InvalidPathException e) {
        problems.add("line " + number + " names no file: " + e.getMessage());
        return known;
      }
    }

    ZooKeeperSecurity finish() throws IOException {
      if (account.isEmpty() && !readers.isEmpty()) {
        problems.add("readers are named, and no account: everybody may do everything");
      }
      if (certificate.isPresent() && authority.isEmpty()) {
        problems.add("tls-cert is given without tls-ca");
      }
      if (account.isEmpty() && authority.isEmpty() && problems.isEmpty()) {
        problems.add("it does not hold a scheme and an account, such as: digest NAME:PASSWORD");
      }
      if (!problems.isEmpty()) {
        throw new IOException("the file " + file + ": " + String.join("; ", problems));
      }
      return new ZooKeeperSecurity(account, readers, authority, certificate);
    }
  }
}
