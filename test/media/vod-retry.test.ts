import { expect, onTestFinished, test } from 'vitest';
import { AppError } from '../../src/shared/errors.ts';
import { fixture } from '../support/fixtures.ts';
import { makeMediaTools } from '../support/media-tools.ts';
import { testTempDir } from '../support/temp-dir.ts';
import { startVodPipeline } from '../support/vod-pipeline.ts';

test('a video that failed is prepared again from the file that is here, and single qualities are encoded again', async () => {
  const tools = makeMediaTools();
  let isBroken = true;
  const probe: typeof tools.probe = async (...values) => {
    if (isBroken) throw new AppError('media-refused', 'broken');
    return tools.probe(...values);
  };
  const breakable = Object.assign(Object.create(tools) as typeof tools, {
    probe,
    runCommand: tools.runCommand.bind(tools),
  });
  const pipeline = await startVodPipeline(await testTempDir(), {
    hasImages: false,
    context: { tools: breakable },
  });
  onTestFinished(async () => {
    await pipeline.stop();
    await tools.owner.stop();
  });
  const { works, database, records } = pipeline;
  const retry = (id: string) => database.transaction(transaction => works.retry(id, transaction));
  const videoId = await pipeline.add(await fixture('h264-aac-mkv'));
  expect(await pipeline.settled(videoId)).toMatchObject({ isPlayable: false, failure: expect.any(String) });

  isBroken = false;
  expect(await retry(videoId)).toBe(true);
  const state = await pipeline.settled(videoId);
  expect(state).toMatchObject({ isPlayable: true, failure: undefined });
  expect(new Set(state.renditions.map(({ status }) => status))).toEqual(new Set(['encoded']));
  expect(await retry(videoId)).toBe(false);

  await records.markFailed(videoId, [{ type: 'mp4', quality: '240p' }], 'no memory');
  expect(await retry(videoId)).toBe(true);
  const again = await pipeline.settled(videoId);
  expect(again.renditions.map(({ type, status }) => `${type} ${status}`)).toContain('mp4 encoded');
});
