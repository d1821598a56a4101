import { describe, expect, it } from 'vitest';
import type { IngestLogEntry } from '../../../../../src/web/dashboard/api/api-types.ts';
import {
  groupMoments,
  timelineOf,
} from '../../../../../src/web/dashboard/pages/live/room/ingest-timeline.ts';

const start = Date.parse('2026-03-04T05:00:00Z') / 1000;
const entry = (seconds: number, fields: Omit<IngestLogEntry, 'happenedAt'>): IngestLogEntry => ({
  happenedAt: new Date((start + seconds) * 1000).toISOString(),
  ...fields,
});
const obs = { protocol: 'rtmp', encoder: 'OBS' };
const timeline = (entries: readonly IngestLogEntry[], now: number, liveSince: number | undefined = start) =>
  timelineOf({ entries, clips: [], liveSince, now: start + now })!;
const relative = (spans: readonly { kind: string; from: number; to: number }[]) =>
  spans.map(({ kind, from, to }) => [kind, from - start, to - start]);

describe('the timeline of a broadcast', () => {
  it('has a gap until the encoder is back, and tells it from another encoder', () => {
    const shown = timeline(
      [
        entry(0, { type: 'connected', ...obs }),
        entry(60, { type: 'disconnected', reason: 'connection-lost' }),
        entry(72, { type: 'connected', ...obs }),
        entry(100, { type: 'disconnected', reason: 'replaced' }),
        entry(100, { type: 'connected', protocol: 'srt', encoder: 'Larix' }),
      ],
      200,
    );
    expect(relative(shown.spans)).toEqual([
      ['live', 0, 60],
      ['gap', 60, 72],
      ['live', 72, 100],
      ['live', 100, 200],
    ]);
    expect(shown.moments.map(({ kind, text }) => [kind, text])).toEqual([
      ['start', 'OBS (RTMP) connected'],
      ['lost', 'The connection of the encoder was lost'],
      ['back', 'The encoder came back after 12 s'],
      ['encoder', 'The encoder changed: Larix (SRT) took over'],
    ]);
  });

  it('shows an alarm until it is cleared, or until the broadcast ends, without an end of its own', () => {
    const alarm = { alarm: 'audio-missing', message: 'No audio has arrived for 5 s.' };
    const entries = [
      entry(0, { type: 'connected', ...obs }),
      entry(20, { type: 'alarm-raised', ...alarm }),
      entry(50, { type: 'alarm-cleared', alarm: 'audio-missing', message: 'Audio arrives again.' }),
      entry(80, { type: 'alarm-raised', ...alarm }),
      entry(90, { type: 'ended', reason: 'completed' }),
    ];
    const ended = timelineOf({ entries, clips: [], liveSince: undefined, now: start + 4_000 })!;
    expect(relative(ended.spans)).toEqual([
      ['alarm', 20, 50],
      ['live', 0, 90],
      ['alarm', 80, 90],
    ]);
    expect([ended.from - start, ended.to - start]).toEqual([-30, 90]);
    expect(ended.moments.at(-1)?.text).toBe('The broadcast was ended in the dashboard or over the API');
    const running = timeline(entries.slice(0, 4), 100);
    expect(relative(running.spans).at(-1)).toEqual(['alarm', 80, 100]);
  });

  it('says once why an encoder was refused, and shows clips in the order of time', () => {
    const refusal = { ...obs, reason: 'no-keyframe', message: 'No keyframe arrived.', times: 3 };
    const shown = timelineOf({
      entries: [
        entry(0, { type: 'connected', ...obs }),
        entry(10, { type: 'refused', ...refusal }),
        entry(10, { type: 'ended', reason: 'no-keyframe' }),
        entry(30, { type: 'connected', ...obs }),
      ],
      clips: [{ title: 'The goal', createdAt: entry(20, { type: 'ended' }).happenedAt }],
      liveSince: start + 30,
      now: start + 60,
    })!;
    expect(shown.moments.map(({ text }) => text)).toEqual([
      'OBS (RTMP) connected',
      'OBS (RTMP) was refused 3 times: No keyframe arrived.',
      'Clip “The goal”',
      'OBS (RTMP) connected',
    ]);
  });

  it('counts attempts of an encoder that sends nothing, beside the last broadcast', () => {
    const shown = timelineOf({
      entries: [
        entry(0, { type: 'connected', ...obs }),
        entry(60, { type: 'ended', reason: 'codec-unknown' }),
        entry(90, { type: 'ended', ...obs, reason: 'no-media', times: 2 }),
      ],
      clips: [],
      liveSince: undefined,
      now: start + 100,
    })!;
    expect(shown.moments.map(({ kind, text }) => [kind, text])).toEqual([
      ['start', 'OBS (RTMP) connected'],
      ['end', 'The broadcast ended. codec-unknown.'],
      ['lost', 'OBS (RTMP) sent no media 2 times'],
    ]);
    expect(relative(shown.spans)).toEqual([['live', 0, 60]]);
  });

  it('leaves out earlier broadcasts when nothing is live, and that the studio stopped before it ended', () => {
    const shown = timelineOf({
      entries: [
        entry(0, { type: 'connected', ...obs }),
        entry(20, { type: 'ended', reason: 'publisher-gone' }),
        entry(40, { type: 'connected', protocol: 'whip' }),
        entry(60, { type: 'disconnected', reason: 'unpublished' }),
        entry(60, { type: 'ended', reason: 'completed' }),
      ],
      clips: [],
      liveSince: undefined,
      now: start + 100,
    })!;
    expect(shown.moments.map(({ kind, time }) => [kind, time - start])).toEqual([
      ['start', 40],
      ['end', 60],
    ]);
    expect(shown.moments.at(-1)?.text).toBe('The broadcast was ended in the dashboard or over the API');
    expect(relative(shown.spans)).toEqual([['live', 40, 60]]);
  });

  it('ends an hour back, and knows the length of a broadcast that another server logged', () => {
    const shown = timeline([entry(0, { type: 'connected', ...obs })], 9_000);
    expect([shown.to - shown.from, shown.moments]).toEqual([3_600, []]);
    expect(relative(timeline([], 600).spans)).toEqual([['live', 0, 600]]);
    expect(timelineOf({ entries: [], clips: [], liveSince: undefined, now: start })).toBeUndefined();
  });

  it('groups moments that would cover each other', () => {
    const moments = [0, 5, 14, 80].map(time => ({ time, kind: 'back' as const, text: '' }));
    const groups = groupMoments({ from: 0, to: 100, moments }, 0.1);
    expect(groups.map(group => group.map(({ time }) => time))).toEqual([[0, 5], [14], [80]]);
  });
});
