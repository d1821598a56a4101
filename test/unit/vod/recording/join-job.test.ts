import { expect, test } from 'vitest';
import { joinKind } from '../../../../src/vod/recording/join-job.ts';
import type { RecordingRepository } from '../../../../src/vod/recording/recording-repository.ts';
import type { VodContext } from '../../../../src/vod/vod-context.ts';

test('a recording that cannot be joined fails with a reason', () => {
  const told: unknown[][] = [];
  const records = { sourceFailed: (...failure: unknown[]) => told.push(['event', ...failure]) };
  const repository = { sourceFailed: (...failure: unknown[]) => told.push(['row', ...failure]) };
  const context = { records, clock: { nowMs: () => 7 } } as unknown as VodContext;
  const { onGiveUp } = joinKind(context, repository as unknown as RecordingRepository);
  onGiveUp?.({ kind: 'join', subjectId: 'vi1' }, new Error('no'));
  const reason = 'The recording could not be joined.';
  expect(told).toEqual([
    ['event', 'vi1', reason],
    ['row', 'vi1', reason, 7],
  ]);
});
