/**
 * Thread that runs a checkpoint per message, so that waiting for the disk does not block requests. In plain JavaScript, because
 * TypeScript makes Node load a compiler, which keeps 10 MB.
 */
import { parentPort, workerData } from 'node:worker_threads';
import Sqlite from 'better-sqlite3';

const sqlite = new Sqlite(workerData);
sqlite.pragma('synchronous = NORMAL');
sqlite.pragma('cache_size = -64');
/** @type {Sqlite.Statement<[], { busy: number, log: number, checkpointed: number }>} */
const checkpoint = sqlite.prepare('PRAGMA wal_checkpoint(PASSIVE)');
parentPort?.on('message', () => parentPort?.postMessage(checkpoint.get()?.log));
