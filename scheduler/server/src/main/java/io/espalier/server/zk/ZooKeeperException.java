package io.espalier.server.zk;

import java.io.IOException;
import org.apache.zookeeper.KeeperException;

/** Thrown when a ZooKeeper operation fails; the message is one clear line. */
public final class ZooKeeperException extends IOException {
  private static final long serialVersionUID = 1L;

  public ZooKeeperException(String message) {
    super(message);
  }

  private ZooKeeperException(String message, Throwable cause) {
    super(message, cause);
  }

  /**
   * Explains a failure.
   *
   * @param what the attempted operation, such as {@code cannot read /espalier/leader}
   */
  public static ZooKeeperException of(String what, ZooKeeperTarget target, Throwable cause) {
    String why = String.valueOf(cause.getMessage());
    if (cause instanceof KeeperException known) {
      why =
          switch (known.code()) {
            case NOAUTH ->
                "no rights there (ACL); give the account that has them with --zookeeper-auth FILE";
            case AUTHFAILED -> "the servers refuse the account of --zookeeper-auth";
            case INVALIDACL ->
                "the servers do not know the account of --zookeeper-auth, or a reader it names";
            case CONNECTIONLOSS, OPERATIONTIMEOUT, SESSIONEXPIRED ->
                "no server answers; are they up, and do more than half of the ensemble run?";
            case NONODE -> "there is no znode " + known.getPath();
            case NOTREADONLY -> "the server that answers has lost the others (read-only)";
            case QUOTAEXCEEDED, THROTTLEDOP -> "the servers refuse: " + known.code();
            default -> why;
          };
    }
    return new ZooKeeperException(what + " in ZooKeeper at " + target.hosts() + ": " + why, cause);
  }
}
