import { afterEach, beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { SharedArrivingUploads } from '../../../src/operations/usage/shared-arriving-uploads.store.ts';
import { AccountsStore } from '../../../src/resources/identity/accounts/accounts.store.ts';
import { silentLogger } from '../../../src/shared/logger.ts';
import type { Database } from '../../../src/store/database.ts';
import { testTempDir } from '../../support/temp-dir.ts';
import { openTestDatabase } from '../../support/test-database.ts';
import { waitUntil } from '../../support/wait-until.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
});
afterEach(() => {
  vi.useRealTimers();
});

it('counts a file no more once the database can be reached again, while others arrive', async () => {
  const database = await openTestDatabase(await testTempDir());
  onTestFinished(() => database.stop());
  const { projectIds } = await database.transaction(transaction =>
    new AccountsStore(database).addAccount({ isUpgraded: true, createdAtMs: 1 }, transaction),
  );
  const projectId = projectIds.production;
  let isReachable = true;
  const flaky: Database = new Proxy(database, {
    get: (target, name) => {
      if (name === 'run' && !isReachable) return () => Promise.reject(new Error('away'));
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  const clock = { nowMs: () => 0, monotonicMs: () => 0 };
  const arriving = new SharedArrivingUploads({ database: flaky, clock, log: silentLogger });
  const add = (videoId: string) => arriving.add(projectId, async () => ({ videoId, bytes: 10, isNew: true }));
  const first = await add('v1');
  await add('v2');
  isReachable = false;
  await first.end();
  isReachable = true;
  expect(await arriving.totals(projectId)).toEqual({ bytes: 20, newUploads: 2 });

  vi.advanceTimersByTime(15_000);
  await waitUntil(async () => !(await arriving.isReceiving('v1')));
  expect(await arriving.totals(projectId)).toEqual({ bytes: 10, newUploads: 1 });
  expect(await arriving.isReceiving('v2')).toBe(true);
});
