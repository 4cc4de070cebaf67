package io.espalier.nodes.sql;

import io.espalier.core.json.Json;
import io.espalier.core.topology.NodeSourceException;
import java.math.BigDecimal;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Converts database rows to JSON objects: numbers, booleans, and text for everything else. */
final class SqlRows {
  private SqlRows() {}

  /** Receives a row. */
  interface Taker {
    void take(Json row) throws NodeSourceException, InterruptedException;
  }

  /**
   * Reads all rows.
   *
   * @param onlyColumn name given to a single column, regardless of its name in the query
   */
  static void read(ResultSet rows, String onlyColumn, Taker taker)
      throws SQLException, NodeSourceException, InterruptedException {
    ResultSetMetaData about = rows.getMetaData();
    List<String> labels = new ArrayList<>();
    for (int i = 1; i <= about.getColumnCount(); i++) {
      labels.add(about.getColumnCount() == 1 ? onlyColumn : about.getColumnLabel(i));
    }
    while (rows.next()) {
      Map<String, Json> row = new LinkedHashMap<>();
      for (int i = 0; i < labels.size(); i++) {
        Json value = value(rows.getObject(i + 1), rows, i + 1);
        if (!(value instanceof Json.Null)) {
          row.put(labels.get(i), value);
        }
      }
      taker.take(new Json.Obj(row));
    }
  }

  private static Json value(@Nullable Object value, ResultSet rows, int column)
      throws SQLException {
    if (value == null) {
      return Json.Null.NULL;
    }
    if (value instanceof Boolean bool) {
      return Json.of(bool);
    }
    if (value instanceof BigDecimal number) {
      return new Json.Num(number);
    }
    if (value instanceof Double || value instanceof Float) {
      double number = ((Number) value).doubleValue();
      return Double.isFinite(number) ? Json.of(number) : Json.of(value.toString());
    }
    if (value instanceof Number number) {
      return new Json.Num(new BigDecimal(number.toString()));
    }
    String text = rows.getString(column);
    return text == null ? Json.Null.NULL : Json.of(text);
  }
}
