/** A row, its values parsed as node-postgres parses them. */
export type Row = Record<string, unknown>;

/** A connection to the database, in node-postgres' shape: one session, one transaction at a time. */
export interface Client {
  query<R extends Row = Row>(
    text: string,
    values?: readonly unknown[],
  ): Promise<{ readonly rows: R[]; readonly rowCount: number | null }>;
}

/** Waits for a number of milliseconds: work that does not touch the database. */
export type Sleep = (milliseconds: number) => Promise<void>;
