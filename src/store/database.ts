import type { Component } from '../shared/lifecycle.ts';
import type { Connection } from './connection.ts';

/** Queries outside a transaction are committed when their promise resolves. */
export interface Database extends Connection, Component {
  /** Says why queries fail, or undefined. */
  findFault(): Promise<string | undefined>;
}
