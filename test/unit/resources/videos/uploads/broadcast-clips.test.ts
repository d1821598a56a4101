import { access, mkdir, readdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { expect, test } from 'vitest';
import { BroadcastClips } from '../../../../../src/resources/videos/uploads/broadcast-clips.ts';
import type { LiveClips } from '../../../../../src/resources/videos/uploads/clip-sources.ts';
import { SourceFiles } from '../../../../../src/resources/videos/uploads/source-files.ts';
import { AppError } from '../../../../../src/shared/errors.ts';
import { MediaFiles } from '../../../../../src/storage/media-files.ts';
import { testTempDir } from '../../../../support/temp-dir.ts';

const hourMs = 3_600_000;
const copiedBytes = 100;

/** Clips of a broadcast that can be rewound for three hours. */
async function setUp({ leftBytes = 1000 } = {}) {
  const media = new MediaFiles(await testTempDir());
  const files = new SourceFiles(media, () => 0);
  const live: LiveClips = {
    find: async () => ({
      startedAtMs: 0,
      available: { startMs: 0, endMs: 3 * hourMs },
      write: async (_range, { path }) => {
        await mkdir(dirname(path), { recursive: true });
        await writeFile(path, Buffer.alloc(copiedBytes));
        return {
          bytes: copiedBytes,
          leadSeconds: 0,
          isEncoded: false,
          prepare: async () => async () => true,
          discard: async () => {},
        };
      },
    }),
  };
  const quotas = {
    requireStorage: async (_projectId: string, bytes: number) => {
      if (bytes > leftBytes) throw new AppError('storage-limit-reached');
    },
  };
  return { clips: new BroadcastClips(files, quotas, live), files, folder: media.root('vod') };
}

test('a clip of a broadcast has at most an hour', async () => {
  const { clips, files } = await setUp();
  const startMs = hourMs / 2;
  await expect(clips.copy('pr', 'li', { startMs, endMs: startMs + hourMs + 1 })).rejects.toMatchObject({
    code: 'invalid-attribute',
    details: { name: 'clip[endTimecode]' },
  });
  await expect(clips.copy('pr', 'li', { lastMs: 2 * hourMs })).rejects.toMatchObject({
    details: { name: 'clip[endTimecode]' },
  });
  const copied = await clips.copy('pr', 'li', { startMs, endMs: startMs + hourMs });
  await access(files.source(copied!.videoId));
});

test('a clip that is larger than the rest of the storage leaves nothing behind', async () => {
  const { clips, folder } = await setUp({ leftBytes: copiedBytes - 1 });
  await expect(clips.copy('pr', 'li', { lastMs: 10_000 })).rejects.toMatchObject({
    code: 'storage-limit-reached',
  });
  expect(await readdir(folder)).toEqual([]);
});
