package io.espalier.worker.logs;

import io.espalier.core.logs.LogStore;
import io.espalier.testkit.running.LogStoreContract;
import io.espalier.testkit.running.MemoryLogStore;

/** The stand-in keeps the contract too; it stands here because its module has no tests. */
class MemoryLogStoreTest extends LogStoreContract {
  @Override
  protected LogStore create() {
    return new MemoryLogStore();
  }
}
