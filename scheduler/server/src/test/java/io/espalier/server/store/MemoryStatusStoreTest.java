package io.espalier.server.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.espalier.core.status.store.StatusStore;
import io.espalier.core.status.store.StatusStore.TakeOver;
import io.espalier.core.status.store.StoreException;
import io.espalier.testkit.status.StatusStoreContract;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MemoryStatusStoreTest extends StatusStoreContract {
  private final StatusStore only = new MemoryStatusStore();

  @Override
  protected StatusStore open() {
    return only;
  }

  @Test
  void with_an_epoch_file_epochs_grow_over_processes(@TempDir Path directory) {
    Path file = directory.resolve("epoch");
    assertThat(new MemoryStatusStore(new EpochFile(file)).openEpoch(TakeOver.PLAIN).epoch())
        .isEqualTo(1);
    assertThat(new MemoryStatusStore(new EpochFile(file)).openEpoch(TakeOver.PLAIN).epoch())
        .isEqualTo(2);
    StatusStore third = new MemoryStatusStore(new EpochFile(file));
    assertThat(third.openEpoch(TakeOver.PLAIN).epoch()).isEqualTo(3);
    assertThat(third.openEpoch(TakeOver.PLAIN).epoch()).isEqualTo(4);
    assertThat(file).content().startsWith("4 ");
  }

  @Test
  void a_damaged_epoch_file_is_not_begun_anew(@TempDir Path directory) throws Exception {
    Path file = directory.resolve("epoch");
    for (String text : new String[] {"", "x", "-3", "9223372036854775807"}) {
      Files.writeString(file, text);
      assertThatThrownBy(() -> new EpochFile(file).highest())
          .isInstanceOf(StoreException.class)
          .hasMessageContaining("epoch file " + file + " is damaged");
    }
  }
}
