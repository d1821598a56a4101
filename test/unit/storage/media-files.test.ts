import { expect, it } from 'vitest';
import { MediaFiles } from '../../../src/storage/media-files.ts';
import type { MediaStorage } from '../../../src/storage/media-storage.ts';

it('ends the publication of a file with the signal of its job', async () => {
  const publish = async (_from: string, _to: string, signal?: AbortSignal) => signal?.throwIfAborted();
  const files = new MediaFiles('/media', { publish } as unknown as MediaStorage);

  await files.publish('/media/made', '/media/vod/v1/source');
  const reason = new Error('the job was cancelled');
  const signal = AbortSignal.abort(reason);
  await expect(files.publish('/media/made', '/media/vod/v1/source', signal)).rejects.toBe(reason);
});
