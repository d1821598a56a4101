import { expect, onTestFinished, test, vi } from 'vitest';
import type { Foundation } from '../../../src/app/foundation.ts';
import type { MediaSide } from '../../../src/app/media-side.ts';
import { healthOptions } from '../../../src/app/operations.ts';
import type { RtmpServer } from '../../../src/ingest/rtmp/rtmp-server.ts';
import { Metrics } from '../../../src/metrics/metrics.ts';
import { silentLogger } from '../../../src/shared/logger.ts';
import { nodeRoles } from '../../../src/shared/node-roles.ts';

test('metrics are told while the database does not respond, without those that it knows', async () => {
  const metrics = new Metrics();
  onTestFinished(() => metrics.stop());
  const warn = vi.fn();
  const owner = { running: 2, pids: [] };
  const isDown = () => Promise.reject(new Error('the database is down'));
  const foundation = {
    config: { 'node.roles': nodeRoles, 'uploads.minFree': 1 },
    database: { findFault: () => Promise.resolve('the database is down') },
    files: { freeBytes: () => Promise.resolve(1) },
    metrics,
    processes: owner,
    log: { ...silentLogger, warn },
    outbox: { webhooks: { pendingTotal: isDown } },
    storage: {},
  } as unknown as Foundation;
  const media = {
    vod: { processes: owner, jobs: { counts: isDown } },
    broadcasts: {
      registry: { countByState: () => ({ live: 3 }), stats: () => [] },
      restreamer: { countByState: () => ({}) },
      services: { processes: owner },
      transcoding: { processes: owner },
      pulls: { processes: owner },
    },
    recordings: { openCount: 4, uploadLagSeconds: 0 },
    viewers: { total: () => 5 },
  } as unknown as MediaSide;
  const options = healthOptions(foundation, media, {} as RtmpServer, () => 'running');
  const text = await options.metrics.text();
  expect(text).toMatch(/broadcasts\{state="live"\} 3\n/);
  expect(text).toMatch(/viewers 5\n/);
  expect(text).toMatch(/database_up 0\n/);
  expect(warn).toHaveBeenCalledWith('metrics-not-read', { error: 'the database is down' });
});
