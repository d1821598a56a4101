/**
 * A thread that writes what stands in the log of a database into its file, so that waiting for the disk keeps nobody from being
 * answered. At each message it does that, and tells a {@link CheckpointReport}; its end closes its connection.
 */
import { parentPort, workerData } from 'node:worker_threads';
import Sqlite from 'better-sqlite3';

/** What a checkpoint found and did, in pages. */
export interface CheckpointReport {
  /** In the log, when it was looked at last. */
  readonly inLog: number;
  /** Of these, how many are in the file now. */
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
