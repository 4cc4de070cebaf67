package io.espalier.core.config;

/**
 * How a physical resource of a worker is converted to slots of a logical one
 * (docs/design/bistro.md#resources-of-workers).
 *
 * @param logicalResource name of a resource of the worker level
 */
public record PhysicalResource(
    Kind kind,
    String logicalResource,
    double multiplyLogicalBy,
    double reserveAmount,
    Enforcement enforcement) {

  /** The physical resource. */
  public enum Kind {
    RAM_MB("ram_mb"),
    CPU_CORE("cpu_core"),
    GPU_CARD("gpu_card");

    private final String label;

    Kind(String label) {
      this.label = label;
    }

    public String label() {
      return label;
    }
  }

  /** How a task's share is enforced. */
  public enum Enforcement {
    NONE("none"),
    SOFT("soft"),
    HARD("hard");

    private final String label;

    Enforcement(String label) {
      this.label = label;
    }

    public String label() {
      return label;
    }
  }
}
