package io.espalier.server.store.jdbc;

import io.espalier.core.status.store.StatusStore;
import io.espalier.core.status.store.StoreException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import javax.sql.DataSource;

/**
 * What is special to one database. All databases have the same tables with nearly the same columns,
 * so the statements of this package are written once, with marks that {@link #sql} replaces:
 *
 * <pre>
 *   #status   the table "status"
 *   node*     a name, which may be of any length: one column, or a key that fits into an index
 *             followed by the whole name; without the star, the column by which it is looked up
 *   {until}   a column that databases call differently
 * </pre>
 *
 * <p>Thread-safe.
 */
public interface Dialect {
  /** A value that exists once in a store. */
  enum Property {
    /** The epoch in force. */
    EPOCH,
    /** The mark of the newest commit in this epoch; only where {@link Dialect#take} sets it. */
    MARK,
    /** How long leases last that may still be in force, in milliseconds. */
    LEASE,
    /** What the store knows of earlier schedulers, a {@link StatusStore.Earlier}; none: all. */
    EARLIER,
    /** The source to which the store is bound. */
    SOURCE,
    /** The random id of the store. */
    STORE_ID,
    /** The sketch of the last good nodes. */
    NODES_SKETCH,
    /** The key with which callbacks are signed. */
    CALLBACK_KEY
  }

  /** Returns the name of the store for messages. */
  String description();

  /**
   * Creates the tables or migrates them to the version of this program.
   *
   * @throws StoreException with one clear line when that is not possible
   */
  void prepare() throws SQLException;

  /** Opens the connection that writes. */
  Connection openWriter() throws SQLException;

  /** Returns the source of the connections that read. */
  DataSource readers() throws SQLException;

  /** Returns how long the connection that writes may be idle before it must be opened again. */
  Duration writerIdle();

  /** Returns the fetch size with which a result arrives row by row instead of all at once. */
  int streamingFetchSize();

  /** Commits the transaction; the next statement after {@code setAutoCommit(false)} begins one. */
  void commit(Connection connection) throws SQLException;

  /** Translates an error into a message for an operator. */
  StoreException translate(SQLException e);

  /** Replaces the marks of a statement. */
  String sql(String text);

  /** Returns the number of columns of a whole name. */
  int nameColumns();

  /** Reads the whole name that begins at a column. */
  String readName(ResultSet found, int column) throws SQLException;

  /** Sets the {@link #nameColumns} parameters of a whole name, from {@code at}. */
  void setName(PreparedStatement statement, int at, String name) throws SQLException;

  /** Sets the one parameter by which a name is looked up. */
  void setKey(PreparedStatement statement, int at, String name) throws SQLException;

  /** Returns the beginning of what an INSERT does with a row whose key exists, up to "SET". */
  String onConflict(String key);

  /** Returns the value that an INSERT of a row whose key exists was given for a column. */
  String given(String column);

  /** Returns the query for a property: one row with one column. */
  String select(Property property);

  /** Returns the statement that sets a property, with one parameter. */
  String update(Property property);

  /** Returns what follows a query in a transaction that writes, to lock the row; may be empty. */
  String forUpdate();

  /**
   * Returns the first statement of a commit, with the parameters mark and epoch: an update of one
   * row or a query of one row if the epoch is in force, of none otherwise.
   */
  String take();

  /** Returns the statement that adds a job, with its whole name as the parameter. */
  String addJob();

  /**
   * Returns the statements that take the name from a job and keep its number until its rows are
   * deleted, each with the key of the name as the parameter.
   */
  List<String> forgetJob();

  /** Returns the query for the number of one forgotten job. */
  String forgottenJob();

  /** Returns the statement that frees the number of a forgotten job, with it as the parameter. */
  String deleteForgottenJob();
}
