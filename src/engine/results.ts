/** What Postgres answers, gathered into results in node-postgres' shape. */
import { protocol } from '@electric-sql/pglite';
import pgTypes from 'pg-types';
import { DATABASE_ERROR_FIELDS, DatabaseError, type DatabaseErrorFields } from './errors.ts';
import type { Field, Notice, Notification, QueryResult, Row } from './types.ts';

type Message = Parameters<Parameters<InstanceType<typeof protocol.Parser>['parse']>[1]>[0];
type Of<Name extends string> = Message & { name: Name };

/** `ReadyForQuery`'s status: idle, in a transaction, or in a failed one. */
export type TransactionStatus = 'I' | 'T' | 'E';

export interface AnswerListeners {
  readonly onNotice: (notice: Notice) => void;
  readonly onNotification: (notification: Notification) => void;
  /** COPY FROM STDIN asks for data. */
  readonly onCopyIn: () => void;
}

/** Reads one session's answers, in whatever pieces they come. */
export class AnswerReader {
  readonly #parser = new protocol.Parser();
  readonly #listeners: AnswerListeners;
  #results: QueryResult[] = [];
  #fields: Field[] = [];
  #parsers: ((text: string) => unknown)[] = [];
  #rows: Row[] = [];
  #error: Error | undefined;
  #status: TransactionStatus = 'I';

  constructor(listeners: AnswerListeners) {
    this.#listeners = listeners;
  }

  /** As of the last ReadyForQuery. */
  get status(): TransactionStatus {
    return this.#status;
  }

  /** The first error that has come since the last `finish`. */
  get error(): Error | undefined {
    return this.#error;
  }

  /** Takes bytes from the backend; copies what it keeps. Never throws: it is called from within Postgres. */
  read(bytes: Uint8Array): void {
    this.#parser.parse(bytes, (message) => {
      try {
        this.#take(message);
      } catch (error) {
        this.#error ??= error as Error;
      }
    });
  }

  /** What has been answered since the last call. @throws DatabaseError, or what a parser of values threw. */
  finish(): QueryResult[] {
    const [results, error] = [this.#results, this.#error];
    this.#results = [];
    this.#error = undefined;
    this.#forgetRows();
    if (error !== undefined) throw error;
    return results;
  }

  #take(message: Message): void {
    switch (message.name) {
      case 'rowDescription':
        return this.#describe((message as unknown as { fields: Field[] }).fields);
      case 'dataRow':
        return void this.#rows.push(this.#parseRow((message as unknown as { fields: (string | null)[] }).fields));
      case 'commandComplete':
        return this.#complete((message as unknown as { text: string }).text);
      case 'emptyQuery':
        return this.#push('', null);
      case 'error':
        return void (this.#error ??= toDatabaseError(message as Of<'error'> & Error));
      case 'notice':
        return this.#listeners.onNotice(toNotice(message as unknown as Notice));
      case 'notification':
        return this.#listeners.onNotification(toNotification(message as unknown as Notification));
      case 'copyInResponse':
        return this.#listeners.onCopyIn();
      case 'readyForQuery':
        this.#status = (message as unknown as { status: TransactionStatus }).status;
        return;
      default:
        // Steps of the protocol that say nothing to a client of ours.
        return;
    }
  }

  #describe(fields: readonly Field[]): void {
    this.#fields = fields.map(toField);
    this.#parsers = this.#fields.map((field) => parserFor(field.dataTypeID));
  }

  #parseRow(texts: readonly (string | null)[]): Row {
    const row: Row = {};
    this.#fields.forEach(({ name }, index) => {
      const text = texts[index] ?? null;
      row[name] = text === null ? null : this.#parsers[index]?.(text);
    });
    return row;
  }

  #complete(tag: string): void {
    // As node-postgres reads it: COMMAND, COMMAND ROWS, or INSERT OID ROWS.
    const [, command = '', first, second] = /^([A-Za-z]+)(?: (\d+))?(?: (\d+))?/.exec(tag) ?? [];
    const count = second ?? first;
    this.#push(command, count === undefined ? null : Number(count));
  }

  #push(command: string, rowCount: number | null): void {
    this.#results.push({ command, rowCount, rows: this.#rows, fields: this.#fields });
    this.#forgetRows();
  }

  #forgetRows(): void {
    this.#rows = [];
    this.#fields = [];
    this.#parsers = [];
  }
}

function toField({ name, tableID, columnID, dataTypeID, dataTypeSize, dataTypeModifier }: Field): Field {
  return { name, tableID, columnID, dataTypeID, dataTypeSize, dataTypeModifier, format: 'text' };
}

const BYTEA = 17;
/** node-postgres' parser of `bytea` needs Buffer, which browsers lack. */
function parserFor(type: number): (text: string) => unknown {
  return type === BYTEA ? parseBytea : (pgTypes.getTypeParser(type, 'text') as (text: string) => unknown);
}

/** Either of Postgres' formats (`bytea_output`): `\x6162`, or text with `\\` and octal `\001`. */
function parseBytea(text: string): Uint8Array {
  const isHex = text.startsWith('\\x');
  const parts = isHex ? text.slice(2).match(/../g) : text.match(/\\\d{3}|\\?[^]/g);
  const parse = isHex ? (pair: string) => Number.parseInt(pair, 16) : parseEscaped;
  return Uint8Array.from(parts ?? [], parse);
}

function parseEscaped(part: string): number {
  return part.length === 4 ? Number.parseInt(part.slice(1), 8) : part.charCodeAt(part.length - 1);
}

function toDatabaseError(message: Error & DatabaseErrorFields): DatabaseError {
  return new DatabaseError(message.message, pickFields(message));
}

function pickFields(message: DatabaseErrorFields): DatabaseErrorFields {
  const fields: DatabaseErrorFields = {};
  for (const name of DATABASE_ERROR_FIELDS) {
    const value = message[name];
    if (value !== undefined) fields[name] = value;
  }
  return fields;
}

function toNotice({ severity, code, message, detail, hint }: Notice): Notice {
  return {
    severity,
    code,
    message,
    ...(detail === undefined ? {} : { detail }),
    ...(hint === undefined ? {} : { hint }),
  };
}

function toNotification({ channel, payload, processId }: Notification): Notification {
  return { channel, payload, processId };
}
