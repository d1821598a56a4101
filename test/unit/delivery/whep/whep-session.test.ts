import { expect, test } from 'vitest';
import { WhepSession } from '../../../../src/delivery/whep/whep-session.ts';
import type { FrameReceiver, MediaFrame, WhepBroadcast } from '../../../../src/delivery/whep/whep-source.ts';
import { silentLogger } from '../../../../src/shared/logger.ts';
import { type OutgoingFrame, SendTrack } from '../../../../src/webrtc/rtp/send-track.ts';
import type { RtpCodec } from '../../../../src/webrtc/sdp/session-description.ts';
import type { WebRtcSession } from '../../../../src/webrtc/webrtc-session.ts';

function frame(number: number, isKeyframe = false, kind: MediaFrame['kind'] = 'video'): MediaFrame {
  return { kind, isKeyframe, timestamp: number, ntpMs: number, payloads: () => [Buffer.alloc(1_000)] };
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
    recentVideo: () => recent,
    add: viewer => void viewers.add(viewer),
    remove: viewer => void viewers.delete(viewer),
  };
  const sent: number[] = [];
  const ends: string[] = [];
  const counted: number[] = [];
  const network = { canSend: true, isOpen: true };
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
    get canSend() {
      return network.canSend;
    },
    sendFrame: (_: SendTrack, { timestamp, payloads }: OutgoingFrame) => {
      sent.push(timestamp);
      return payloads.length * 1_000;
    },
    close: () => {
      network.isOpen = false;
    },
  } as unknown as WebRtcSession);
  return { session, viewers, sent, ends, counted, network };
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
