import { expect, test } from 'vitest';
import { WhepSession } from '../../../../src/delivery/whep/whep-session.ts';
import type { FrameReceiver, MediaFrame, WhepBroadcast } from '../../../../src/delivery/whep/whep-source.ts';
import { silentLogger } from '../../../../src/shared/logger.ts';
import { type OutgoingFrame, SendTrack } from '../../../../src/webrtc/rtp/send-track.ts';
import type { RtpCodec } from '../../../../src/webrtc/sdp/session-description.ts';
import type { WebRtcSession } from '../../../../src/webrtc/webrtc-session.ts';

function frame(
  number: number,
  isKeyframe = false,
  kind: MediaFrame['kind'] = 'video',
  { rendition = 'source', packets = 1 } = {},
): MediaFrame {
  const payloads = Array.from({ length: packets }, () => Buffer.alloc(1_000));
  return { kind, rendition, isKeyframe, timestamp: number, ntpMs: number, payloads: () => payloads };
}

const codec: RtpCodec = {
  payloadType: 96,
  name: 'H264',
  clockRate: 90_000,
  channels: 1,
  format: '',
  parameters: new Map(),
  feedback: [],
};

function startSession(recent: readonly MediaFrame[] = [], isStillAdmitted = async () => true) {
  const viewers = new Set<FrameReceiver>();
  const broadcast: WhepBroadcast = {
    problem: undefined,
    hasBegun: true,
    renditions: () => renditions,
    recentVideo: () => recent,
    add: viewer => void viewers.add(viewer),
    remove: viewer => void viewers.delete(viewer),
  };
  const renditions = [{ name: 'source', bitsPerSecond: 2_600_000 }];
  const sent: number[] = [];
  /** Timestamps of frames of which the last packet was sent. */
  const ended: number[] = [];
  const ends: string[] = [];
  const counted: number[] = [];
  const network = { canSend: true, isOpen: true, limit: Number.POSITIVE_INFINITY };
  const session = new WhepSession({
    broadcast,
    log: silentLogger,
    isStillAdmitted,
    watched: bytes => void counted.push(bytes),
    connected: () => {},
    unconnected: () => {},
    ended: () => void ends.push('ended'),
  });
  const sendTracks = (['video', 'audio'] as const).map(kind => ({ track: new SendTrack(kind, codec, 'x') }));
  session.connect({
    sendTracks,
    get sendLimit() {
      return network.limit;
    },
    get canSend() {
      return network.canSend;
    },
    sendFrame: (_: SendTrack, { timestamp, payloads, isUnfinished }: OutgoingFrame) => {
      sent.push(timestamp);
      if (isUnfinished !== true) ended.push(timestamp);
      return payloads.length * 1_000;
    },
    close: () => {
      network.isOpen = false;
    },
  } as unknown as WebRtcSession);
  return { session, viewers, sent, ended, ends, counted, network, renditions };
}

const path = { protocol: 'tcp', address: '192.0.2.1' } as const;

test('a viewer whose connection is congested gets nothing more before the next keyframe', () => {
  const { session, sent, network } = startSession([frame(0, true), frame(1)]);
  session.events.connected(path);
  session.events.tick!(0);
  session.frame(frame(2));
  network.canSend = false;
  session.frame(frame(3));
  network.canSend = true;
  session.frame(frame(4));
  session.frame(frame(100, true, 'audio'));
  session.frame(frame(5, true));
  session.frame(frame(6));
  expect(sent).toEqual([0, 1, 2, 100, 5, 6]);
});

test('congestion while the recent frames are sent drops the rest of them', () => {
  const recent = Array.from({ length: 250 }, (_, number) => frame(number, number === 0));
  const { session, sent, network } = startSession(recent);
  session.events.connected(path);
  session.events.tick!(0);
  expect(sent).toHaveLength(100);
  // Frames that come meanwhile wait.
  session.frame(frame(250));
  session.events.tick!(25);
  expect(sent).toHaveLength(200);
  network.canSend = false;
  session.frame(frame(251));
  network.canSend = true;
  session.events.tick!(50);
  session.frame(frame(252));
  session.frame(frame(253, true));
  expect(sent.slice(200)).toEqual([253]);
});

test('the session ends, once, with the broadcast, and when the viewer may no longer watch', async () => {
  const ended = startSession();
  ended.session.events.connected(path);
  ended.session.ended('The broadcast has ended.');
  ended.session.events.closed('peer-closed', '');
  expect([ended.ends, ended.network.isOpen, ended.viewers.size]).toEqual([['ended'], false, 0]);

  let isAdmitted = true;
  const revoked = startSession([], async () => isAdmitted);
  revoked.session.events.connected(path);
  revoked.session.events.tick!(5_000);
  await new Promise(setImmediate);
  expect(revoked.ends).toEqual([]);
  isAdmitted = false;
  revoked.session.events.tick!(9_999);
  revoked.session.events.tick!(10_000);
  await new Promise(setImmediate);
  expect([revoked.ends, revoked.network.isOpen]).toEqual([['ended'], false]);

  const unsure = startSession([], () => Promise.reject(new Error('The database does not answer.')));
  unsure.session.events.connected(path);
  unsure.session.events.tick!(5_000);
  await new Promise(setImmediate);
  expect(unsure.ends).toEqual([]);
});

test('a network with limited bandwidth gets packets slowly, whole frames, and no part of a GOP after a gap', () => {
  const { session, sent, ended, network } = startSession([frame(0, true)]);
  session.events.connected(path);
  session.events.tick!(0);
  network.limit = 800_000;
  // One second is 100 packets; at 30 fps with 10 packets a frame, three times as many come.
  let nowMs = 0;
  for (let number = 1; number <= 120; number++) {
    const isKeyframe = number % 60 === 0;
    session.frame(frame(number * 3_000, isKeyframe, 'video', { packets: 10 }));
    for (const endMs = nowMs + 1000 / 30; nowMs < endMs; nowMs += 10) session.events.tick!(nowMs);
  }
  for (const endMs = nowMs + 5_000; nowMs < endMs; nowMs += 25) session.events.tick!(nowMs);
  expect(sent.length).toBeLessThan(550);
  const numbers = ended.map(timestamp => timestamp / 3_000);
  expect(sent.filter(timestamp => timestamp > 0)).toHaveLength(
    10 * numbers.filter(number => number > 0).length,
  );
  expect(numbers).toEqual([...new Set(numbers)].toSorted((a, b) => a - b));
  expect(numbers).toContain(60);
  expect(numbers).toContain(120);
  // Each frame follows the one before, or is a keyframe.
  const afterGaps = numbers.filter((number, index) => index > 0 && numbers[index - 1] !== number - 1);
  expect(afterGaps.length).toBeGreaterThan(0);
  expect(afterGaps.every(number => number % 60 === 0)).toBe(true);
});

test('a lower rendition replaces the source at a newer keyframe of it, and the source comes back the same way', () => {
  const { session, sent, network, renditions } = startSession([frame(100, true)]);
  const low = (number: number, isKeyframe = false) =>
    session.frame(frame(number, isKeyframe, 'video', { rendition: '360p' }));
  const drain = (fromMs: number) => {
    for (let tick = 0; tick < 20; tick++) session.events.tick!(fromMs + tick * 25);
  };
  renditions.push({ name: '360p', bitsPerSecond: 700_000 });
  session.events.connected(path);
  session.events.tick!(0);
  low(90, true);
  session.frame(frame(110));
  network.limit = 1_000_000;
  session.events.tick!(25);
  session.frame(frame(120));
  low(100, true);
  low(110);
  session.frame(frame(200, true));
  session.frame(frame(210));
  low(200, true);
  low(210);
  drain(50);
  expect(sent).toEqual([100, 110, 200, 210]);
  network.limit = Number.POSITIVE_INFINITY;
  session.events.tick!(1_000);
  session.frame(frame(220));
  low(220);
  session.frame(frame(300, true));
  low(230);
  session.frame(frame(310));
  expect(sent.slice(4)).toEqual([220, 300, 310]);
});

test('a viewer of a rendition that ends gets the source from its next keyframe on', () => {
  const { session, sent, network, renditions } = startSession([frame(100, true)]);
  renditions.push({ name: '360p', bitsPerSecond: 700_000 });
  session.events.connected(path);
  session.events.tick!(0);
  network.limit = 1_000_000;
  session.events.tick!(25);
  renditions.pop();
  session.events.tick!(50);
  session.frame(frame(110));
  session.frame(frame(120, true));
  for (let tick = 0; tick < 20; tick++) session.events.tick!(75 + tick * 25);
  expect(sent).toEqual([100, 120]);
});
