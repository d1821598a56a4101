import { expect, test } from 'vitest';
import { joinKind } from '../../../src/vod/join-job.ts';
import type { RecordingBook } from '../../../src/vod/recording-book.ts';
import type { WorkContext } from '../../../src/vod/work-context.ts';

test('a recording that cannot be joined is a source that failed, with a reason', () => {
  const told: unknown[][] = [];
  const records = { sourceFailed: (...failure: unknown[]) => told.push(['event', ...failure]) };
  const book = { sourceFailed: (...failure: unknown[]) => told.push(['row', ...failure]) };
  const context = { records, clock: { nowMs: () => 7 } } as unknown as WorkContext;
  const { givenUp } = joinKind(context, book as unknown as RecordingBook);
  givenUp?.({ kind: 'join', subjectId: 'vi1' }, new Error('no'));
  const reason = 'The recording could not be put together.';
  expect(told).toEqual([
    ['event', 'vi1', reason],
    ['row', 'vi1', reason, 7],
  ]);
});
