import { expect, it } from 'vitest';
import { ObjectVersions } from '../../../src/storage/s3/object-versions.ts';
import type { S3Objects } from '../../../src/storage/s3/s3-objects.ts';

const uuid = '7f1c9a52-5e0e-4a0e-9c57-0a53a1a4b7c1';

function versionsOf(etags: readonly string[], prefix: string): ObjectVersions {
  const answers = etags.values();
  const find = async () => ({ etag: answers.next().value ?? '', bytes: 1, modifiedAtMs: 0 });
  return new ObjectVersions({ find } as unknown as S3Objects, prefix, []);
}

it.each(['', `tenants/${uuid}/`, 'hls-1/'])(
  'asks again for names that can be replaced below %j',
  async prefix => {
    const key = `${prefix}vod/v1/source`;
    const versions = versionsOf(['one', 'two'], prefix);

    expect((await versions.current(key))?.etag).toBe('one');
    expect((await versions.current(key))?.etag).toBe('two');
  },
);

it.each([`vod/v1/thumbnail-${uuid}.jpg`, 'vod/v1/hls-7/video-0.mp4'])('asks once for %s', async name => {
  const versions = versionsOf(['one', 'two'], 'media/');

  expect((await versions.current(`media/${name}`))?.etag).toBe('one');
  expect((await versions.current(`media/${name}`))?.etag).toBe('one');
});
