import { describe, expect, test } from 'vitest';
import { ReconnectBuffer } from '../../../../src/live/broadcast/reconnect-buffer.ts';
import type { FlvTag } from '../../../../src/media/flv/flv-tag.ts';

const tag = (kind: FlvTag['kind'], ...bytes: number[]): FlvTag => ({
  ...{ kind, timestampMs: 0 },
  body: Buffer.from([...bytes, 0, 0, 0, 0]),
});
const videoConfig = tag('video', 0x17, 0);
const keyframe = tag('video', 0x17, 1);
const frame = tag('video', 0x27, 1);
const audioConfig = tag('audio', 0xaf, 0);
const sound = tag('audio', 0xaf, 1);
const metadata: FlvTag = { kind: 'script', timestampMs: 0, body: Buffer.from('onMetaData') };

describe('a publisher that reconnected', () => {
  test('is passed on from its first keyframe, behind metadata and configurations', () => {
    const handover = new ReconnectBuffer();
    const newer = tag('video', 0x17, 0, 0, 0, 0, 9);
    for (const early of [metadata, videoConfig, audioConfig, sound, frame, newer]) {
      expect(handover.push(early, 100)).toBeUndefined();
    }
    expect(handover.push(keyframe, 200)).toEqual([metadata, newer, audioConfig, keyframe]);
  });

  test('is passed on after a second when it has audio only', () => {
    const handover = new ReconnectBuffer();
    handover.push(audioConfig, 0);
    expect(handover.push(sound, 100)).toBeUndefined();
    expect(handover.push(sound, 1099)).toBeUndefined();
    expect(handover.push(sound, 1100)).toEqual([audioConfig, sound]);
  });

  test('is passed on after three seconds without a keyframe', () => {
    const handover = new ReconnectBuffer();
    expect(handover.push(frame, 0)).toBeUndefined();
    expect(handover.push(sound, 2999)).toBeUndefined();
    expect(handover.push(frame, 3000)).toEqual([frame]);
  });

  test('is held while it sends nothing readable', () => {
    const handover = new ReconnectBuffer();
    expect(handover.push({ kind: 'video', timestampMs: 0, body: Buffer.alloc(0) }, 9000)).toBeUndefined();
  });
});
