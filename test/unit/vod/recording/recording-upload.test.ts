import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { silentLogger } from '../../../../src/shared/logger.ts';
import { ConcurrencyLimit } from '../../../../src/shared/scheduling/concurrency-limit.ts';
import { RecordingUpload } from '../../../../src/vod/recording/recording-upload.ts';
import { testTempDir } from '../../../support/temp-dir.ts';
import { waitUntil } from '../../../support/wait-until.ts';

/** Lets the test decide when a piece counts as sent. */
class HeldTurns extends ConcurrencyLimit {
  release = Promise.withResolvers<void>();

  override async run<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = await work();
    await this.release.promise;
    return result;
  }
}

it.each(Array.from({ length: 12 }, (_, ticks) => ticks))(
  'uploads the rest of a recording that ends %i steps after a piece was sent',
  async ticks => {
    const path = join(await testTempDir(), 'recording-1');
    await writeFile(path, Buffer.alloc(100));
    const sent: number[] = [];
    const begun = Promise.withResolvers<void>();
    const turns = new HeldTurns(1);
    const write = async (_path: string, bytes: Buffer) => {
      sent.push(bytes.length);
      begun.resolve();
    };
    const upload = new RecordingUpload({
      storage: { write },
      turns,
      catchUpTurns: turns,
      ids: {},
      log: silentLogger,
    });
    upload.written({ path, bytes: 60, seconds: 4 });
    await begun.promise;
    await new Promise(resolve => setTimeout(resolve, 5));
    turns.release.resolve();
    for (let tick = 0; tick < ticks; tick += 1) await null;
    upload.written({ path, bytes: 100, seconds: 5 });
    await upload.finish();

    expect(sent).toEqual([60, 40]);
  },
);

it('uploads more than four pieces at once while it is behind, and tells how far', async () => {
  const path = join(await testTempDir(), 'recording-1');
  await writeFile(path, Buffer.alloc(100));
  const release = Promise.withResolvers<void>();
  let running = 0;
  const write = async () => {
    running += 1;
    await release.promise;
  };
  const limits = { turns: new ConcurrencyLimit(4), catchUpTurns: new ConcurrencyLimit(12) };
  const upload = new RecordingUpload({ storage: { write }, ...limits, ids: {}, log: silentLogger });
  for (let seconds = 4; seconds <= 40; seconds += 4) {
    upload.written({ path, bytes: seconds, seconds });
    await new Promise(resolve => setImmediate(resolve));
  }
  await waitUntil(() => running > 4);
  expect(upload.lagSeconds).toBe(40);
  release.resolve();
  await upload.finish();
  expect([upload.lagSeconds, upload.isStored]).toEqual([0, true]);
});
