import { describe, expect, test } from 'vitest';
import { ReconnectBuffer } from '../../../../src/live/broadcast/reconnect-buffer.ts';
import { samples } from '../../../support/media-samples.ts';

const data = Buffer.alloc(4);
const videoConfig = samples.videoConfig('avc1', data);
const keyframe = samples.video('avc1', { dtsMs: 0, isKeyframe: true, data });
const frame = samples.video('avc1', { dtsMs: 0, data });
const audioConfig = samples.audioConfig('mp4a', data);
const sound = samples.audio('mp4a', { dtsMs: 0, data });
const declared = { type: 'declared', media: { hasAudio: false, hasVideo: false } } as const;
const color = { type: 'color', color: {} } as const;

describe('a publisher that reconnected', () => {
  test('is passed on from its first keyframe, behind what is announced and configurations', () => {
    const handover = new ReconnectBuffer();
    const newer = samples.videoConfig('avc1', Buffer.of(9));
    for (const early of [declared, color, videoConfig, audioConfig, sound, frame, newer]) {
      expect(handover.push(early, 100)).toBeUndefined();
    }
    expect(handover.push(keyframe, 200)).toEqual([declared, color, newer, audioConfig, keyframe]);
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

  test('is held while it sends configurations only', () => {
    const handover = new ReconnectBuffer();
    expect(handover.push(videoConfig, 9000)).toBeUndefined();
  });
});
