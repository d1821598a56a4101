import { parentPort } from 'node:worker_threads';
import { loadDashboardFiles } from './dashboard-files.ts';

// A thread of its own, so that viewers of live streams do not wait; and what compiling took is given back with it.
parentPort?.postMessage(await loadDashboardFiles());
