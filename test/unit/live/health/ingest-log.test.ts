import { expect, it } from 'vitest';
import { IngestLog } from '../../../../src/live/health/ingest-log.ts';

const encoder = { protocol: 'rtmp', encoder: 'FMLE', remoteAddress: '192.0.2.1' };
const reader = '198.51.100.1';
const refusal = { reason: 'no-keyframe', description: 'No keyframe arrived.' };

function createLog() {
  let nowMs = 1_000_000;
  const log = new IngestLog({ nowMs: () => nowMs });
  const passed = (ms: number) => {
    nowMs += ms;
  };
  return { log, passed };
}

it('keeps one entry of an encoder that is refused again and again, and others apart', () => {
  const { log, passed } = createLog();
  for (let attempt = 0; attempt < 500; attempt += 1) {
    passed(1000);
    log.refused('li1', encoder, refusal);
  }
  log.refused('li1', { ...encoder, remoteAddress: '192.0.2.2' }, refusal);
  expect(log.list('li1', reader).map(({ times, address, atMs }) => [times, address, atMs])).toEqual([
    [500, '192.0.2.1', 1_500_000],
    [1, '192.0.2.2', 1_500_000],
  ]);
});

it('keeps what happened before encoders that are refused in turns, or come from everywhere', () => {
  const { log, passed } = createLog();
  log.connected('li1', encoder);
  for (let attempt = 0; attempt < 500; attempt += 1) {
    passed(1000);
    log.refused('li1', { ...encoder, remoteAddress: `192.0.2.${2 + (attempt % 2)}` }, refusal);
  }
  expect(log.list('li1', reader).map(({ times, address }) => [times, address])).toEqual([
    [undefined, '192.0.2.1'],
    [250, '192.0.2.2'],
    [250, '192.0.2.3'],
  ]);
  for (let attempt = 0; attempt < 500; attempt += 1) {
    log.refused('li1', { ...encoder, remoteAddress: `2001:db8::${attempt}` }, refusal);
  }
  const [first, ...others] = log.list('li1', reader);
  expect(first).toMatchObject({ type: 'connected', address: '192.0.2.1' });
  expect(others).toHaveLength(100);
  expect(others.at(-1)).toMatchObject({ address: '2001:db8::499', times: 1 });
});

it('keeps one entry of an encoder that connects again and again without anything to play', () => {
  const { log, passed } = createLog();
  log.connected('li1', encoder);
  log.ended('li1', 'completed');
  const attempt = (cause: typeof refusal | undefined) => {
    passed(1000);
    log.connected('li1', encoder);
    log.named('li1', 'OBS');
    if (cause === undefined) log.disconnected('li1', 'connection-lost');
    log.neverPlayed('li1', cause);
  };
  for (let count = 0; count < 3; count += 1) attempt(refusal);
  for (let count = 0; count < 2; count += 1) attempt(undefined);
  attempt(refusal);
  log.neverPlayed('li1', refusal);
  expect(
    log.list('li1', reader).map(({ type, reason, times, encoder: name }) => [type, reason, times, name]),
  ).toEqual([
    ['connected', undefined, undefined, 'FMLE'],
    ['ended', 'completed', undefined, undefined],
    ['ended', 'no-media', 2, 'OBS'],
    ['refused', 'no-keyframe', 4, 'OBS'],
  ]);
});

it('names the encoder that is connected by what it sends with its media', () => {
  const { log } = createLog();
  log.connected('li1', encoder);
  log.disconnected('li1', 'connection-lost');
  log.connected('li1', encoder);
  log.named('li1', 'OBS');
  log.named('li2', 'OBS');
  expect(log.list('li1', reader).map(({ type, encoder: name }) => [type, name])).toEqual([
    ['connected', 'FMLE'],
    ['disconnected', undefined],
    ['connected', 'OBS'],
  ]);
  expect(log.list('li2', reader)).toEqual([]);
});

it('forgets after a day, with the live stream, and beyond its size', () => {
  const { log, passed } = createLog();
  log.ended('li1', 'completed');
  passed(24 * 3_600_000);
  for (let count = 0; count < 300; count += 1) log.ended('li1', 'publisher-gone');
  expect(log.list('li1', reader)).toHaveLength(200);
  expect(log.list('li1', reader).every(({ reason }) => reason === 'publisher-gone')).toBe(true);
  log.forget('li1');
  expect(log.list('li1', reader)).toEqual([]);
});

it('lists an encoder with an unknown stream key for ten minutes, to readers in its network', () => {
  const { log, passed } = createLog();
  const unknownKey = { reason: 'unknown-key', description: 'The stream key is not known.' };
  log.unknownKey(encoder, unknownKey);
  passed(1000);
  log.unknownKey(encoder, unknownKey);
  expect(log.list('li1', reader)).toEqual([]);
  expect(log.list('li1', encoder.remoteAddress)).toEqual([
    {
      atMs: 1_001_000,
      type: 'refused',
      protocol: 'rtmp',
      encoder: 'FMLE',
      address: '192.0.2.1',
      reason: 'unknown-key',
      message: 'The stream key is not known.',
      times: 2,
    },
  ]);
  passed(600_000);
  expect(log.list('li1', encoder.remoteAddress)).toEqual([]);
});

it('hides an encoder with an unknown stream key while another one is connected', () => {
  const { log, passed } = createLog();
  const typesOf = () => log.list('li1', encoder.remoteAddress).map(({ type }) => type);
  log.unknownKey(encoder, { reason: 'unknown-key', description: 'The stream key is not known.' });
  passed(1000);
  log.connected('li1', encoder);
  expect(typesOf()).toEqual(['connected']);
  passed(1000);
  log.ended('li1', 'completed');
  expect(typesOf()).toEqual(['refused', 'connected', 'ended']);
});
