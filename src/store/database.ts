import type { Compilable } from 'kysely';
import type { Component } from '../shared/lifecycle.ts';
import type { Connection } from './connection.ts';
import type { Signals } from './signals.ts';

/** Queries outside a transaction are committed when their promise resolves. */
export interface Database extends Connection, Component {
  readonly signals: Signals;
  /** Runs a transaction as `transaction` does. Queries that `work` runs without a handle belong to it, too. */
  sharedTransaction<Result>(work: () => Promise<Result>): Promise<Result>;
  /** Runs a query as `run` does, and never waits for a connection that other queries occupy. */
  runUrgent(query: Compilable): Promise<number>;
  /** Says why queries fail, or undefined. */
  findFault(): Promise<string | undefined>;
}
