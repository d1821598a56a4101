import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { acceptOffer } from '../../../src/ingest/whip/accept-offer.ts';
import { hostCandidates } from '../../../src/webrtc/ice/ice-candidates.ts';
import { offerProblem } from '../../../src/webrtc/sdp/offer-problem.ts';
import {
  parseSessionDescription,
  type SessionDescription,
} from '../../../src/webrtc/sdp/session-description.ts';
import { writeAnswer } from '../../../src/webrtc/sdp/write-answer.ts';
import { Random } from '../../support/random.ts';

/** Offer as Chromium writes it, shortened. */
const offerText = readFileSync(new URL('../../fixtures/whip-offer.sdp', import.meta.url), 'utf8').replace(
  /\r?\n/g,
  '\r\n',
);

function parsed(text: string): SessionDescription {
  const offer = parseSessionDescription(text);
  if (typeof offer === 'string') throw new Error(offer);
  return offer;
}

const encoding = { canEncode: true };

function accepted(text: string, canEncode = true) {
  const media = acceptOffer(parsed(text), { canEncode });
  if (typeof media === 'string') throw new Error(media);
  return media;
}

test("Chromium's offer is answered with one codec per medium, and retransmission", () => {
  const offer = parsed(offerText);
  const media = accepted(offerText);
  expect(media.map(({ codec }) => `${codec.name}/${codec.clockRate}`)).toEqual(['opus/48000', 'H264/90000']);
  expect(offerProblem(offer, offer.media)).toBeUndefined();
  const answer = writeAnswer({
    sources: new Map(),
    offer,
    accepted: acceptOffer(offer, encoding) as typeof media,
    sessionId: '1',
    fingerprint: 'AA:BB',
    ice: { usernameFragment: 'abcd', password: 'p'.repeat(24) },
    candidates: hostCandidates(['203.0.113.7', '2001:db8::1'], 8189, false),
  });
  const lines = answer.trimEnd().split('\r\n');
  expect(lines).toContain('m=audio 9 UDP/TLS/RTP/SAVPF 111');
  expect(lines).toContain('m=video 9 UDP/TLS/RTP/SAVPF 102 103');
  expect(lines).toContain('a=group:BUNDLE 0 1');
  expect(lines).toContain('a=rtpmap:111 opus/48000/2');
  expect(lines).toContain('a=fmtp:103 apt=102');
  expect(lines).toContain('a=rtcp-fb:102 nack pli');
  expect(lines).toContain('a=rtcp-fb:102 transport-cc');
  expect(lines.filter(line => line === 'a=recvonly')).toHaveLength(2);
  expect(lines).toContain('a=candidate:u0 1 udp 2130706431 203.0.113.7 8189 typ host');
  expect(lines).toContain('a=candidate:t0 1 tcp 1520435199 203.0.113.7 8189 typ host tcptype passive');
  // And we can read it.
  expect(parsed(answer).media.map(({ codecs }) => codecs.length)).toEqual([1, 2]);
});

test('VP8, which must be encoded, is taken only where nothing else can be published', () => {
  const videoOf = (text: string) => accepted(text).find(({ media }) => media.kind === 'video')?.codec.name;
  expect(videoOf(offerText)).toBe('H264');
  expect(videoOf(offerText.replaceAll('H264/90000', 'VP9/90000'))).toBe('AV1');
  const vp8Only = offerText.replaceAll(/(H264|AV1)\/90000/g, 'VP9/90000');
  expect(videoOf(vp8Only)).toBe('VP8');
  const [audio, video] = offerText.split(/(?=m=)/).slice(1);
  const other = video!.replace('a=mid:1', 'a=mid:2');
  const two = [vp8Only.split(/(?=m=)/)[0], audio, vp8Only.split(/(?=m=)/)[2], other].join('');
  expect(videoOf(two)).toBe('H264');
});

test('media that are not sent or not known are rejected in their place', () => {
  const offer = parsed(offerText.replace('a=sendonly', 'a=recvonly'));
  const media = accepted(offerText.replace('a=sendonly', 'a=recvonly'));
  expect(media).toHaveLength(1);
  const answer = writeAnswer({
    sources: new Map(),
    offer,
    accepted: acceptOffer(offer, encoding) as typeof media,
    sessionId: '1',
    fingerprint: 'AA',
    candidates: [],
    ice: { usernameFragment: 'abcd', password: 'p'.repeat(24) },
  });
  expect(answer.split('\r\n').filter(line => line.startsWith('m='))).toEqual([
    'm=audio 0 UDP/TLS/RTP/SAVPF 111 63 9 0 8 13 110 126',
    'm=video 9 UDP/TLS/RTP/SAVPF 102 103',
  ]);
});

describe('problems are described', () => {
  test.each([
    ['no version', '', 'begin with "v=0"'],
    ['a line that is none', 'v=0\r\nhello\r\n', 'Line 2 of the SDP does not begin'],
    ['a long line', `v=0\r\na=${'x'.repeat(3000)}\r\n`, 'longer than 2048'],
    ['too many lines', `v=0\r\n${'a=x\r\n'.repeat(2001)}`, 'more than 2000 lines'],
    ['too many media', `v=0\r\n${'m=audio 9 UDP/TLS/RTP/SAVPF 0\r\n'.repeat(17)}`, 'more than 16 media'],
    ['a medium that is none', 'v=0\r\nm=nonsense\r\n', 'cannot be read'],
  ])('%s', (_, text, problem) => {
    expect(parseSessionDescription(text)).toContain(problem);
  });

  test.each([
    [/a=ice-pwd.*\r\n/g, '', 'ice-pwd'],
    [/a=fingerprint.*\r\n/g, '', 'fingerprint'],
    [/a=setup:actpass/g, 'a=setup:passive', 'actpass'],
    [/a=rtcp-mux\r\n/g, '', 'rtcp-mux'],
    [/a=group:BUNDLE.*\r\n/g, '', 'bundle'],
    [/s=-\r\n/g, 's=-\r\na=ice-lite\r\n', 'ICE-lite'],
    [/UDP\/TLS\/RTP\/SAVPF/g, 'RTP/AVP', 'RTP over DTLS'],
  ])('without what %s matches', (pattern, replacement, problem) => {
    const offer = parsed(offerText.replace(pattern, replacement));
    expect(offerProblem(offer, offer.media)).toContain(problem);
  });

  test('codecs that cannot be published', () => {
    const vp9 = acceptOffer(parsed(offerText.replaceAll(/(H264|AV1|VP8)\/90000/g, 'VP9/90000')), encoding);
    expect(vp9).toBe(
      'The offer has video as VP9, but this server needs H.264 (packetization mode 1), H.265, AV1 or VP8. Choose H.264 in the encoder or browser.',
    );
    const vp8 = acceptOffer(parsed(offerText.replaceAll(/(H264|AV1)\/90000/g, 'VP9/90000')), {
      canEncode: false,
    });
    expect(vp8).toBe(
      'The offer has video as VP8, VP9, but this server needs H.264 (packetization mode 1), H.265 or AV1. Choose H.264 in the encoder or browser.',
    );
    const pcm = acceptOffer(parsed(offerText.replace('opus/48000', 'L16/48000')), encoding);
    expect(pcm).toContain('Choose Opus in the encoder.');
  });
});

test('changed offers do no harm', () => {
  const random = new Random(23);
  for (let round = 0; round < 500; round++) {
    const bytes = Buffer.from(offerText);
    for (let each = 0; each < 8; each++) bytes[random.below(bytes.length)] = random.below(256);
    const offer = parseSessionDescription(bytes.toString('utf8'));
    if (typeof offer === 'string') continue;
    const media = acceptOffer(offer, encoding);
    if (typeof media !== 'string') offerProblem(offer, offer.media);
  }
});
