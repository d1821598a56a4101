/** Thread that runs a checkpoint per message, so that waiting for the disk does not block requests. */
import { parentPort, workerData } from 'node:worker_threads';
import Sqlite from 'better-sqlite3';

/** In pages. */
export interface CheckpointReport {
  readonly inLog: number;
  /** Pages of the log that are in the file now. */
  readonly inFile: number;
}

const sqlite = new Sqlite(workerData as string);
sqlite.pragma('synchronous = NORMAL');
sqlite.pragma('cache_size = -64');
const checkpoint = sqlite.prepare<[], { busy: number; log: number; checkpointed: number }>(
  'PRAGMA wal_checkpoint(PASSIVE)',
);
parentPort?.on('message', () => {
  const { log, checkpointed } = checkpoint.get()!;
  parentPort?.postMessage({ inLog: log, inFile: checkpointed } satisfies CheckpointReport);
});
