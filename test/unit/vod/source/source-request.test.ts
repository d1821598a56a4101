import { describe, expect, test } from 'vitest';
import { sandboxOverlay } from '../../../../src/ffmpeg/arguments/sandbox-watermark.ts';
import type { EncodingRequest } from '../../../../src/vod/encoding-repository.ts';
import {
  exceedsMaxDuration,
  hasSandboxWatermark,
  partToRead,
  sourceRequestOf,
  watermarkOverlays,
} from '../../../../src/vod/source/source-request.ts';

const order: EncodingRequest = {
  projectId: 'pr1',
  environment: 'sandbox',
  origin: 'upload',
  isJoined: false,
  isClip: false,
  clip: undefined,
  watermark: undefined,
  mp4Support: true,
  language: undefined,
};
const shown = { width: 1920, height: 1080 };

/** Tools that know of one watermark, of 100 x 50 pixels. */
const context = {
  tools: { sizeOfImage: async () => ({ width: 100, height: 50 }) },
} as unknown as Parameters<typeof watermarkOverlays>[0];
const overlays = (changes: Partial<EncodingRequest>) =>
  watermarkOverlays(context, { ...order, ...changes }, '/vi1/watermark', shown, new AbortController().signal);

describe('a sandbox video', () => {
  test.each(['upload', 'url', 'clone', undefined] as const)('from %s is cut and watermarked', origin => {
    expect(hasSandboxWatermark({ ...order, origin })).toBe(true);
    expect(sourceRequestOf({ ...order, origin }, 30_000)).toEqual({
      hasWatermark: true,
      joinsMono: true,
      maxSeconds: 30,
    });
  });

  test('from a recording is watermarked and cut already', () => {
    const recording: EncodingRequest = { ...order, origin: 'recording' };
    expect(hasSandboxWatermark(recording)).toBe(false);
    expect(sourceRequestOf(recording, 30_000)).toEqual({ hasWatermark: false });
  });

  test('has its own watermark below that of the sandbox', async () => {
    expect(await overlays({})).toEqual([sandboxOverlay(shown)]);
    const both = await overlays({ watermark: { right: '0px', bottom: '0px' } });
    expect(both).toEqual([
      { path: '/vi1/watermark', x: 1820, y: 1030, width: 100, height: 50, opacity: 1 },
      sandboxOverlay(shown),
    ]);
  });

  test('is read up to the limit, whatever its header states', () => {
    const most = { maxSeconds: 30 };
    expect(partToRead(undefined, most)).toEqual({ startSeconds: 0, durationSeconds: 30.5 });
    expect(partToRead({ startSeconds: 5, durationSeconds: undefined }, most)).toEqual({
      startSeconds: 5,
      durationSeconds: 30.5,
    });
    const asked = { startSeconds: 5, durationSeconds: 3 };
    expect(partToRead(asked, most)).toBe(asked);
    const metadata = {
      kind: 'audio',
      codec: 'mp4a.40.2',
      timescale: 10,
      bytes: 1,
      maxSegmentDurationSeconds: 1,
    } as const;
    expect(exceedsMaxDuration([undefined, { ...metadata, durationTicks: 305 }], most)).toBe(false);
    expect(exceedsMaxDuration([{ ...metadata, durationTicks: 306 }], most)).toBe(true);
  });
});

describe('a production video', () => {
  const production: EncodingRequest = { ...order, environment: 'production' };

  test('is neither cut nor watermarked', async () => {
    expect(sourceRequestOf(production, 30_000)).toEqual({ hasWatermark: false, joinsMono: true });
    expect(await overlays({ environment: 'production' })).toEqual([]);
    expect(partToRead(undefined, sourceRequestOf(production, 30_000))).toBeUndefined();
    expect(exceedsMaxDuration([], {})).toBe(false);
  });

  test('has its clip and its own watermark', async () => {
    const clip = { startMs: 1000, endMs: 99_000 };
    const watermark = { left: '0px' };
    expect(sourceRequestOf({ ...production, clip, watermark }, 30_000)).toEqual({
      clip,
      hasWatermark: true,
      joinsMono: true,
    });
    expect(await overlays({ environment: 'production', watermark })).toHaveLength(1);
  });
});
