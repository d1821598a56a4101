import { expect, test } from 'vitest';
import { limitsFor, type WorkContext } from '../../../src/vod/work-context.ts';

const hourMs = 3_600_000;
const context = { settings: { memoryBytes: 2 ** 30, maxDurationFactor: 3 } } as WorkContext;

test('a run over a video may take an hour and a multiple of its duration, a week at most', () => {
  expect(limitsFor(context, 600, 1e6)).toMatchObject({ timeoutMs: hourMs + 1_800_000, memoryBytes: 2 ** 30 });
  expect(limitsFor(context, 1e6, 1e6).timeoutMs).toBe(7 * 24 * hourMs);
  expect(limitsFor(context, 0, 1e6).timeoutMs).toBe(48 * hourMs);
});
