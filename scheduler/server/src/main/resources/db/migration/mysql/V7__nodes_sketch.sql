-- What is remembered of the last good nodes, by which the change guard judges the first answer of a node
-- source after a start. Every statement may run again. One row. sketch: JSON, per source and level the number
-- of nodes and some of them.
CREATE TABLE IF NOT EXISTS espalier_nodes (
  id TINYINT NOT NULL,
  sketch LONGTEXT NOT NULL,
  PRIMARY KEY (id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- Last: with this the store is complete.
UPDATE espalier_store SET version = 7 WHERE id = 1;
