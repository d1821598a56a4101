import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { VodWorks } from '../../../src/vod/vod-works.ts';
import type { WorkContext } from '../../../src/vod/work-context.ts';
import { tempDirOfTest } from '../../support/temp-dir.ts';

it('of images that wait to be marked there are only so many, and each gives its place back', async () => {
  const path = join(await tempDirOfTest(), 'image');
  await writeFile(path, 'an image');
  const stuck = Promise.withResolvers<never>();
  stuck.promise.catch(() => {});
  const tools = { runCommand: () => stuck.promise } as unknown as WorkContext['tools'];
  const works = new VodWorks({ tools, settings: { memoryBytes: 1 } } as unknown as WorkContext);
  const waiting = Array.from({ length: 32 }, () => works.markImage(path));
  await expect(works.markImage(path)).rejects.toMatchObject({ code: 'not-ready' });
  stuck.reject(new Error('the disk fails'));
  for (const one of await Promise.allSettled(waiting)) expect(one.status).toBe('rejected');
  await expect(works.markImage(path)).rejects.toThrow('the disk fails');
});
