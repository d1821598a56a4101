import { expect, test } from 'vitest';
import { runLimitsFor, type VodContext } from '../../../src/vod/vod-context.ts';

const hourMs = 3_600_000;
const context = { settings: { memoryBytes: 2 ** 30, maxDurationFactor: 3 } } as VodContext;

test('a run over a video may take an hour and a multiple of its duration, a week at most', () => {
  expect(runLimitsFor(context, 600, 1e6)).toMatchObject({
    timeoutMs: hourMs + 1_800_000,
    memoryBytes: 2 ** 30,
  });
  expect(runLimitsFor(context, 1e6, 1e6).timeoutMs).toBe(7 * 24 * hourMs);
  expect(runLimitsFor(context, 0, 1e6).timeoutMs).toBe(48 * hourMs);
});
