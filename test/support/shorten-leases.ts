/** Gives the servers of tests with several of them short leases, and the tests long deadlines. */
import { matchesGlob, relative } from 'node:path';
import { afterAll, expect, vi } from 'vitest';
import { projectRoot } from '../../scripts/project-files.ts';
import { clusterFiles } from './cluster-files.ts';

const variables = {
  // Tests wait for others to take over. Shorter ones are lost by servers that are merely slow, on a machine that is busy.
  MILLRACE_NODE_LEASE: '6s',
  MILLRACE_JOBS_LEASE: '15s',
  MILLRACE_FFMPEG_ISOLATION: 'off',
};

const file = relative(projectRoot, expect.getState().testPath ?? '');
if (clusterFiles.some(pattern => matchesGlob(file, pattern))) {
  Object.assign(process.env, variables);
  // Deadline of a test that waits many times, one wait after the other.
  vi.setConfig({ testTimeout: 900_000 });
  // The next test file may run in the same process.
  afterAll(() => {
    for (const name of Object.keys(variables)) delete process.env[name];
  });
}
