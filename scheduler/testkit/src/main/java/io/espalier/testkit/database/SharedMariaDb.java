package io.espalier.testkit.database;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/**
 * A MariaDB server shared by all test classes of this process that use this extension: creating its
 * tables takes longer than most of them. The first class starts it, and it ends after the last. A
 * test class must use a schema that no other class names, restore settings that it changes, and
 * neither stop nor kill the server.
 */
public final class SharedMariaDb implements BeforeAllCallback, ParameterResolver {
  private static final Namespace NAMESPACE = Namespace.create(SharedMariaDb.class);

  /** Closes the server at the end of the whole run. */
  private static final class Started implements AutoCloseable {
    private final Path directory;
    private final DatabaseServer server;

    Started() {
      try {
        directory = Files.createTempDirectory("mariadb");
        server = new DatabaseServer(DatabaseServer.Flavour.MARIADB, directory);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new IllegalStateException("interrupted while a database was starting", e);
      }
    }

    @Override
    public void close() throws IOException {
      server.close();
      Files.walkFileTree(
          directory,
          new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes)
                throws IOException {
              Files.delete(file);
              return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult postVisitDirectory(Path visited, @Nullable IOException failure)
                throws IOException {
              Files.delete(visited);
              return FileVisitResult.CONTINUE;
            }
          });
    }
  }

  private static DatabaseServer server(ExtensionContext context) {
    return context
        .getRoot()
        .getStore(NAMESPACE)
        .getOrComputeIfAbsent(Started.class, key -> new Started(), Started.class)
        .server;
  }

  /** Starts the server here, because a test cannot be skipped while its parameters are resolved. */
  @Override
  public void beforeAll(ExtensionContext context) {
    DatabaseServer unused = server(context);
  }

  @Override
  public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
    return parameter.getParameter().getType() == DatabaseServer.class;
  }

  @Override
  public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
    return server(context);
  }
}
