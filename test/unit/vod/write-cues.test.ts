import { mkdtemp, open, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ConvertedCueCutter, WebVttCutter } from '../../../src/media/webvtt/cue-cutter.ts';
import { writeCues } from '../../../src/vod/captions/write-cues.ts';
import { allowedBlockMs, maxBlockMsOf } from '../../support/event-loop-block.ts';

const range = { startMs: 0, durationMs: Number.POSITIVE_INFINITY };
const times = '00:00.000 --> 00:01.000';

async function write(
  text: string,
  cutter: WebVttCutter | ConvertedCueCutter,
  signal = new AbortController().signal,
) {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-cues-'));
  try {
    const [source, target] = [join(folder, 'source.vtt'), join(folder, 'target.vtt')];
    await using output = await open(target, 'wx');
    await using input = await open(source, 'wx+');
    await input.write(text, 0);
    const hasCues = await writeCues(input.readLines({ start: 0 }), cutter, output, signal);
    return { hasCues, text: await readFile(target, 'utf8') };
  } finally {
    await rm(folder, { recursive: true });
  }
}

it('writes all that is cut, in batches', async () => {
  const text = `WEBVTT\n\n${`${times}\n${'a'.repeat(100)}\n\n`.repeat(1_000)}`;
  const { hasCues, text: written } = await write(text, new WebVttCutter(range));
  expect(hasCues).toBe(true);
  expect(written).toBe(text.replaceAll(times, '00:00:00.000 --> 00:00:01.000'));
});

it('stops when it is aborted', async () => {
  const aborted = AbortSignal.abort(new Error('stopped'));
  await expect(write(`WEBVTT\n\n${times}\na\n`, new WebVttCutter(range), aborted)).rejects.toThrow('stopped');
});

it.each(['a\n', `${times}\n`])('does not block with 512 KiB of %j', async text => {
  const long = `WEBVTT\n\n${times}\n${text.repeat((512 * 1024) / text.length)}`;
  for (const Cutter of [WebVttCutter, ConvertedCueCutter]) {
    expect(await maxBlockMsOf(() => write(long, new Cutter(range)))).toBeLessThan(allowedBlockMs);
  }
});
