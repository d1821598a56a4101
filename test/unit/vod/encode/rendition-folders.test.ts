import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { RunningJob } from '../../../../src/jobs/job.ts';
import { MediaFiles } from '../../../../src/storage/media-files.ts';
import type { MediaStorage } from '../../../../src/storage/media-storage.ts';
import { RenditionFolders } from '../../../../src/vod/encode/rendition-folders.ts';
import type { EncodingRepository } from '../../../../src/vod/encoding-repository.ts';
import { testTempDir } from '../../../support/temp-dir.ts';

const nowMs = Date.UTC(2026, 0, 1);

function jobThat(ensureOwned: () => Promise<void>): RunningJob {
  return { subjectId: 'v1', ensureOwned } as unknown as RunningJob;
}

const records = {
  state: async () => undefined,
  transaction: async (work: (transaction: unknown) => Promise<unknown>) => work({}),
} as unknown as EncodingRepository;

it('removes what interrupted runs left, and after a failure only the folders of its own run', async () => {
  const files = new MediaFiles(await testTempDir());
  const folders = new RenditionFolders(files);
  const left = files.video('v1', 'hls-1');
  const ofOtherServer = files.video('v1', 'hls-2');
  await mkdir(left, { recursive: true });
  let own = '';
  const work = async () => {
    expect(existsSync(left)).toBe(false);
    own = (await folders.make('v1', nowMs)).folder;
    await mkdir(ofOtherServer, { recursive: true });
    throw new Error('the job is on another server now');
  };

  await expect(
    folders.during(
      jobThat(async () => {}),
      records,
      work,
    ),
  ).rejects.toThrow('another server');
  expect(existsSync(own)).toBe(false);
  expect(existsSync(ofOtherServer)).toBe(true);
});

it('keeps what another server has made that took the job over while this one was paused', async () => {
  const files = new MediaFiles(await testTempDir());
  const folders = new RenditionFolders(files);
  const left = files.video('v1', 'hls-1');
  const ofOtherServer = files.video('v1', 'hls-2');
  await mkdir(left, { recursive: true });
  const makeElsewhere = () => mkdir(ofOtherServer, { recursive: true }).then(() => {});

  const lost = jobThat(async () => {
    throw new Error('another server runs the job');
  });
  await makeElsewhere();
  await expect(folders.during(lost, records, async () => {})).rejects.toThrow('another server runs');
  expect(existsSync(ofOtherServer)).toBe(true);

  await folders.removeUnused('v1', ['hls-2'], undefined);
  await folders.during(jobThat(makeElsewhere), records, async () => {});
  expect([existsSync(left), existsSync(ofOtherServer)]).toEqual([false, true]);
});

it.each(['s3', 'data-folder'] as const)('discards what a job made and does not need, with %s', async kind => {
  const files = new MediaFiles(await testTempDir(), { kind } as MediaStorage);
  const folders = new RenditionFolders(files);
  const { folder, name } = await folders.make('v1', nowMs);
  await writeFile(join(folder, 'audio.mp4.index'), '');
  await folders.discard('v1', name);
  expect([existsSync(folder), existsSync(files.video('v1'))]).toEqual([false, kind === 'data-folder']);
});
