import { expect, test } from 'vitest';
import type { Transaction } from '../../../../src/store/connection.ts';
import { joinKind } from '../../../../src/vod/recording/join-job.ts';
import type { RecordingRepository } from '../../../../src/vod/recording/recording-repository.ts';
import type { VodContext } from '../../../../src/vod/vod-context.ts';

test('a recording that cannot be joined fails with a reason', async () => {
  const told: unknown[][] = [];
  const records = { sourceFailed: async (...failure: unknown[]) => void told.push(['event', ...failure]) };
  const repository = { sourceFailed: async (...failure: unknown[]) => void told.push(['row', ...failure]) };
  const context = { records, clock: { nowMs: () => 7 } } as unknown as VodContext;
  const { onGiveUp } = joinKind(context, repository as unknown as RecordingRepository);
  const transaction = {} as Transaction;
  await onGiveUp?.({ kind: 'join', subjectId: 'vi1' }, new Error('no'), transaction);
  const reason = 'The recording could not be joined.';
  expect(told).toEqual([
    ['event', 'vi1', reason, transaction],
    ['row', 'vi1', reason, 7, transaction],
  ]);
});
