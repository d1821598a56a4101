import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { MediaFiles } from '../../../../src/storage/media-files.ts';
import { RenditionFolders } from '../../../../src/vod/encode/rendition-folders.ts';
import { testTempDir } from '../../../support/temp-dir.ts';

const nowMs = Date.UTC(2026, 0, 1);

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

  await expect(folders.during('v1', async () => undefined, work)).rejects.toThrow('another server');
  expect(existsSync(own)).toBe(false);
  expect(existsSync(ofOtherServer)).toBe(true);
});
