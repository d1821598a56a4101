import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { AppError } from '../../../../src/shared/errors.ts';
import { DataFolderStorage } from '../../../../src/storage/data-folder-storage.ts';
import { indexProgressive } from '../../../../src/vod/index/index-progressive.ts';
import { RenditionReader } from '../../../../src/vod/index/rendition-reader.ts';
import { gops, makeMovie, sounds } from '../../../support/progressive-movie.ts';
import { Random } from '../../../support/random.ts';
import { testTempDir } from '../../../support/temp-dir.ts';

const dataFolder = new DataFolderStorage('/');

const MUTATIONS = 700;
const INDEX_MUTATIONS = 300;

/** Values that break what trusts sizes, counts and offsets. */
const awkward = [0, 1, 7, 8, 0x7f, 0xff, 0xffff, 0x7fffffff, 0x80000000, 0xfffffff8, 0xffffffff];
const marks = [
  ...['moov', 'mvhd', 'trak', 'tkhd', 'elst', 'mdhd', 'hdlr', 'dref', 'stsd', 'avc1', 'avcC', 'mp4a', 'esds'],
  ...['stts', 'ctts', 'stsc', 'stsz', 'stco', 'stss', 'mdat', 'ftyp', 'minf', 'stbl'],
];

/** A copy with one to three changes, most of them at the beginning of a box. */
function mutated(bytes: Buffer, random: Random): Buffer {
  const copy = Buffer.from(bytes);
  for (let left = 1 + random.below(3); left > 0; left--) {
    const mark = copy.indexOf(
      marks[random.below(marks.length)]!,
      random.below(2) === 0 ? 0 : copy.length >> 1,
    );
    const near =
      mark === -1 || random.below(5) === 0 ? random.below(copy.length) : mark - 4 + random.below(48);
    const at = Math.max(0, Math.min(copy.length - 4, near));
    if (random.below(3) === 0) copy[at] = random.below(256);
    else copy.writeUInt32BE(awkward[random.below(awkward.length)]!, at);
  }
  return random.below(8) === 0 ? copy.subarray(0, random.below(copy.length)) : copy;
}

test('a file with changes anywhere is indexed or refused, quickly and without much memory', async () => {
  const folder = await testTempDir();
  const path = join(folder, 'source');
  const edits = [
    [20, -1],
    [6000, 1024],
  ] as const;
  const samples = gops([50, 50, 50], 512).map(sample => ({ ...sample, offsetTicks: 1024 }));
  const { bytes } = makeMovie([
    { kind: 'video', timescale: 12_800, samples, edits },
    { kind: 'audio', timescale: 48_000, samples: sounds(280), edits, samplesPerChunk: 3 },
  ]);
  const random = new Random(20_261_121);
  const before = process.memoryUsage().arrayBuffers;
  const kinds = new Set<string>();
  for (let round = 0; round < MUTATIONS; round++) {
    await writeFile(path, mutated(bytes, random));
    const result = await indexProgressive(path, { folder, signal: AbortSignal.timeout(5000) });
    kinds.add(result.kind);
    if (result.kind === 'refused') expect(result.reason).toMatch(/^The file must be encoded: .+\.$/s);
    else {
      for (const rendition of [result.video, result.audio]) {
        if (rendition === undefined) continue;
        const opened = await new RenditionReader(dataFolder).open(rendition.file);
        // Every slice lies within the file: reading it is checked by decoding each record.
        for (let index = 0; index < opened.segmentCount; index++) await opened.readSegment(index);
        expect(opened.renditionMetadata.maxSegmentDurationSeconds).toBeLessThan(20);
      }
    }
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(64 * 1024 * 1024);
  }
  expect([...kinds].sort()).toEqual(['indexed', 'refused']);
});

test('a damaged index is an error of the server, and never gives bytes', async () => {
  const folder = await testTempDir();
  const path = join(folder, 'source');
  await writeFile(
    path,
    makeMovie([{ kind: 'video', timescale: 12_800, samples: gops([100, 100], 512) }]).bytes,
  );
  const result = await indexProgressive(path, { folder, signal: new AbortController().signal });
  if (result.kind === 'refused' || result.video === undefined) throw new Error('is indexed');
  const whole = await readFile(result.video.file);
  const random = new Random(7);
  for (let round = 0; round < INDEX_MUTATIONS; round++) {
    const copy = Buffer.from(whole);
    const at = random.below(copy.length);
    copy[at] = copy[at]! ^ (1 << random.below(8));
    const isCut = round % 4 === 0;
    await writeFile(result.video.file, isCut ? copy.subarray(0, at) : copy);
    try {
      const opened = await new RenditionReader(dataFolder).open(result.video.file);
      for (let index = 0; index < opened.segmentCount; index++) await opened.readSegment(index);
      // The first eight bytes are nobody's: what is read is found from the end.
      expect(at).toBeLessThan(8);
    } catch (error) {
      expect(error).toBeInstanceOf(AppError);
      expect(error).toMatchObject({ code: 'server-error' });
    }
  }
});
