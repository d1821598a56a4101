/** A server that shares the database. `roles` is a JSON array. */
export interface NodeRow {
  id: string;
  /** Id of one start of its process. */
  run_id: string;
  /** Host and file of its id: a copy of its data folder is elsewhere. */
  place: string;
  roles: string;
  url: string;
  media_url: string;
  version: string;
  schema_version: number;
  started_at_ms: number;
  is_draining: number;
  /** End of the lease by the clock of the database. 0 once it has left. */
  lease_until_ms: number;
}

/** Held while the node's run has a lease. */
interface DutyRow {
  name: string;
  node_id: string;
  run_id: string;
}

/** `load` is a JSON object. */
interface NodeLoadRow {
  node_id: string;
  load: string;
  /** Time by the clock of the database. */
  measured_at_ms: number;
}

export interface NodeTables {
  nodes: NodeRow;
  duties: DutyRow;
  node_loads: NodeLoadRow;
}
