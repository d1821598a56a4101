import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { box } from '../../src/media/cmaf/box-writer.ts';
import { allowedBlockMs, EventLoopBlock } from '../support/event-loop-block.ts';
import { fixture } from '../support/fixtures.ts';
import { mutateMp4 } from '../support/media-mutations.ts';
import { aacEntry, makeMovie, sounds } from '../support/progressive-movie.ts';
import { Random } from '../support/random.ts';
import { makeTempDir, removeDir } from '../support/temp-dir.ts';
import { startVodPipeline, type VodPipeline } from '../support/vod-pipeline.ts';

/** Mutants that go all the way; `MILLRACE_TEST_MUTANTS=1000 MILLRACE_TEST_SEED=7` tries more and others. */
const mutants = Math.ceil(Number(process.env.MILLRACE_TEST_MUTANTS ?? 100) / 25);
const firstSeed = Number(process.env.MILLRACE_TEST_SEED ?? 20_261_122);

let folder: string;
let workshop: VodPipeline;
beforeAll(async () => {
  folder = await makeTempDir();
  workshop = await startVodPipeline(folder);
});
afterAll(async () => {
  await workshop.stop();
  await removeDir(folder);
});

/** Goes through all that the server does with an upload, without blocking it. */
async function prepared(bytes: Buffer) {
  const path = join(folder, 'film');
  await writeFile(path, bytes);
  const turns = new EventLoopBlock();
  const state = await workshop.settled(await workshop.add(path));
  expect(turns.stop()).toBeLessThan(allowedBlockMs);
  return state;
}

/** AAC frames of silence. */
const silence = Buffer.from('211004608c1c', 'hex');

test('audio of 34 KB that jumps by days in its last samples does not block the server', async () => {
  const samples = Array.from({ length: 1000 }, (_, index) => ({
    durationTicks: 1000,
    offsetTicks: index < 997 ? 0 : 0x7fffffff - 600_000,
    data: silence,
  }));
  const { renditions } = await prepared(makeMovie([{ kind: 'audio', timescale: 4001, samples }]).bytes);
  expect(renditions).toMatchObject([{ type: 'audio', status: expect.stringMatching(/^(encoded|failed)$/) }]);
});

test('millions of boxes beside a sample description do not block the server', async () => {
  const entries = [aacEntry(), Buffer.alloc(32 * 2 ** 20, box('free'))];
  const samples = sounds(100).map(sample => ({ ...sample, data: silence }));
  const { bytes } = makeMovie([{ kind: 'audio', timescale: 48_000, samples, entries }]);
  const { renditions } = await prepared(bytes);
  expect(renditions).toMatchObject([{ type: 'audio', status: expect.stringMatching(/^(encoded|failed)$/) }]);
});

test('mutants of a film are prepared, or have failed with a sentence', async () => {
  const film = await readFile(await fixture('h264-aac-faststart'));
  for (let seed = firstSeed; seed < firstSeed + mutants; seed++) {
    const { isPlayable, failure } = await prepared(mutateMp4(film, new Random(seed)));
    expect([seed, isPlayable || (failure ?? '').endsWith('.')]).toEqual([seed, true]);
  }
});
