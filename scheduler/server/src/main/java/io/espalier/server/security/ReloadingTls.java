package io.espalier.server.security;

import io.espalier.webui.tls.TlsSource;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Provides certificates from files that may be replaced. Invalid new files only set the problem;
 * the old certificates stay in use.
 */
public final class ReloadingTls implements TlsSource {
  private static final Logger LOG = LoggerFactory.getLogger(ReloadingTls.class);

  private final TlsFiles files;
  private List<Map<String, Object>> stamps;
  private volatile Material material;
  private volatile @Nullable String problem;

  /**
   * @throws IOException naming the file that cannot be used now
   */
  public ReloadingTls(TlsFiles files) throws IOException {
    this.files = files;
    this.stamps = files.stamps();
    this.material = files.read();
  }

  @Override
  public Material current() {
    return material;
  }

  @Override
  public synchronized boolean poll() {
    List<Map<String, Object>> now = files.stamps();
    if (now.equals(stamps)) {
      return false;
    }
    stamps = now;
    try {
      material = files.read();
      problem = null;
      LOG.info("{} or its key has changed: the new one is in force", files.certificate());
      return true;
    } catch (IOException e) {
      // Two files are never replaced at one instant: the next check may find a matching pair.
      problem = "the new TLS files are not in force: " + e.getMessage();
      LOG.warn("{}", problem);
      return false;
    }
  }

  @Override
  public Optional<String> problem() {
    return Optional.ofNullable(problem);
  }
}
