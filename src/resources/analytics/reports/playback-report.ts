import * as z from 'zod';
import { parseIsoDate } from '../../../http/routing/iso-date.ts';
import type { EventType, PlayEvent } from './playback.ts';

export interface PlaybackReport {
  readonly mediaId: string;
  /** Chosen by the player, unique per media. */
  readonly playbackId: string;
  /** Page that embeds the player; `''` for none. */
  readonly referrer: string;
  /** Signed; `''` for none. */
  readonly token: string;
  readonly events: readonly PlayEvent[];
  /** End of the report by the player's clock. A playing player has played until then. */
  readonly sentMs: number | undefined;
}

const maxEvents = 1_000;
const maxIdLength = 100;
const maxReferrerLength = 2_048;
const maxTokenLength = 1_600;
/** Maximum age of events: older ones, of players that were offline, count as this old. */
const maxAgeMs = 600_000;
const text = (most: number) => z.string().max(most);
const milliseconds = z.number().describe('Milliseconds since 1970, by the clock of the player.');

const watchEventSchema = z.object({
  eat: milliseconds,
  typ: z
    .number()
    .describe(
      'What happened: 1 loaded, 2 play, 3 pause, 4 time update, 5 error, 6 end, 7 seek, 8 other source.',
    ),
  vti: z.number().nullish().describe('Position in the media, in seconds.'),
  vwi: z.number().nullish().describe('Width of the video.'),
  vhe: z.number().nullish().describe('Height of the video.'),
  pau: z.boolean().nullish().describe('Whether the player is paused.'),
  eco: z.number().nullish().describe('Code of the media error, 0 to 4.'),
});

/** Unknown fields are ignored. */
export const watchSchema = z
  .object({
    sat: milliseconds.optional().describe('When the report was sent, by the clock of the player.'),
    sid: text(maxIdLength).nullish().describe('Session: one tab of a browser, or one run of an app.'),
    mid: text(maxIdLength).describe('Id of the video or live stream.'),
    pid: text(maxIdLength).min(1).describe('Playback: one load of a player.'),
    ref: text(65_536).nullish().describe('Address of the page that embeds the player.'),
    tok: text(maxTokenLength)
      .nullish()
      .describe('The signed token of the page. Its claim `viewer` names the viewer.'),
    ver: text(maxIdLength).nullish().describe('Version of the library.'),
    eve: z.array(watchEventSchema).max(maxEvents).describe('Events, oldest first.'),
  })
  .meta({
    id: 'WatchReport',
    examples: [
      {
        sat: 1772600767123,
        sid: '6f1c9a52-2f0a-4a53-9f0b-5b6d0a4f6c11',
        mid: 'vi4Kd8sLq2Wm6Xr1Tz9Bn3Vc',
        pid: 'b1a7f7de-3c0f-4f2f-8a57-0f7a3b1b2c3d',
        ref: 'https://www.example.org/news',
        ver: '1.2.3',
        eve: [
          { eat: 1772600765100, typ: 1, vti: 0 },
          { eat: 1772600766120, typ: 2, vti: 0 },
          { eat: 1772600767120, typ: 4, vti: 0.9, pau: false, vwi: 1280, vhe: 720 },
        ],
      },
    ],
  });

const eventTypeByCode: readonly (EventType | undefined)[] = [
  undefined,
  'loaded',
  'play',
  'pause',
  'timeupdate',
  'error',
  'end',
  'seek',
  'source',
];

export function parseWatchReport(body: z.output<typeof watchSchema>, nowMs: number): PlaybackReport {
  const newestMs = body.eve.reduce((newest, { eat }) => Math.max(newest, eat), Number.NEGATIVE_INFINITY);
  const sentMs = body.sat ?? newestMs;
  const events = body.eve.flatMap(({ eat, typ, vti, pau }): PlayEvent[] => {
    const type = eventTypeByCode[typ];
    if (type === undefined || !isSafeTime(eat)) return [];
    return [
      {
        type,
        clientMs: eat,
        atMs: serverTime(eat, sentMs, nowMs),
        position: positionOf(vti),
        isPaused: pau === true,
      },
    ];
  });
  return {
    mediaId: body.mid,
    playbackId: body.pid,
    referrer: cleanReferrer(body.ref ?? ''),
    token: body.tok ?? '',
    events: sortByClientTime(events),
    sentMs: undefined,
  };
}

const legacyEventSchema = z.object({
  emitted_at: z.string().max(64).describe('When it happened, by the clock of the player.'),
  type: text(32).describe('`ready`, `play`, `resume`, `pause`, `end`, `seek.forward` or `seek.backward`.'),
  at: z.number().nullish().describe('Position in the media, in seconds.'),
  from: z.number().nullish().describe('Where a seek began, in seconds.'),
  to: z.number().nullish().describe('Where a seek ended, in seconds.'),
});

/** Body of `POST /vod` and `POST /live`. */
export const legacyReportSchema = z
  .object({
    emitted_at: z.string().max(64).describe('When the report was sent, by the clock of the player.'),
    session: z.object({
      session_id: text(maxIdLength).nullish().describe('From the response to the first report.'),
      loaded_at: z.string().max(64).nullish().describe('When the player was loaded.'),
      video_id: text(maxIdLength).nullish(),
      live_stream_id: text(maxIdLength).nullish(),
      referrer: text(65_536).nullish(),
      metadata: z.array(z.unknown()).nullish(),
    }),
    events: z.array(legacyEventSchema).max(maxEvents),
  })
  .meta({
    id: 'OldPlaybackReport',
    examples: [
      {
        emitted_at: '2026-03-04T05:06:07.000Z',
        session: {
          loaded_at: '2026-03-04T05:06:00.000Z',
          video_id: 'vi4Kd8sLq2Wm6Xr1Tz9Bn3Vc',
          referrer: '',
          metadata: [],
        },
        events: [{ emitted_at: '2026-03-04T05:06:02.000Z', type: 'play', at: 0 }],
      },
    ],
  });

export const legacyAnswerSchema = z
  .object({ session: z.string().describe('Send it as `session_id` in further reports.') })
  .meta({ id: 'PlaybackSession', examples: [{ session: 'ps4Kd8sLq2Wm6Xr1Tz9Bn3Vc' }] });

const legacyEventTypes: Readonly<Record<string, EventType>> = {
  ready: 'loaded',
  play: 'play',
  resume: 'play',
  pause: 'pause',
  end: 'end',
  'seek.forward': 'seek',
  'seek.backward': 'seek',
};

export function parseLegacyReport(
  body: z.output<typeof legacyReportSchema>,
  nowMs: number,
  newId: () => string,
): PlaybackReport {
  const { session } = body;
  const sentMs = parseIsoDate(body.emitted_at) ?? nowMs;
  const events = body.events.flatMap((event): PlayEvent[] => {
    const type = Object.hasOwn(legacyEventTypes, event.type) ? legacyEventTypes[event.type] : undefined;
    const clientMs = parseIsoDate(event.emitted_at);
    if (type === undefined || clientMs === undefined) return [];
    const atMs = serverTime(clientMs, sentMs, nowMs);
    return [{ type, clientMs, atMs, position: positionOf(event.to ?? event.at), isPaused: false }];
  });
  return {
    mediaId: session.video_id ?? session.live_stream_id ?? '',
    playbackId: session.session_id ?? newId(),
    referrer: cleanReferrer(session.referrer ?? ''),
    token: '',
    events: sortByClientTime(events),
    sentMs,
  };
}

/** Removes user, password and fragment. Anything but a web address becomes `''`. */
function cleanReferrer(text: string): string {
  const url = text.length > maxReferrerLength ? null : URL.parse(text);
  if (url === null || !['http:', 'https:'].includes(url.protocol)) return '';
  url.username = '';
  url.password = '';
  url.hash = '';
  return url.href.length > maxReferrerLength ? '' : url.href;
}

/** Trusts only the age at sending, within limits. */
function serverTime(clientMs: number, sentMs: number, nowMs: number): number {
  const ageMs = sentMs - clientMs;
  return nowMs - (Number.isFinite(ageMs) ? Math.round(Math.min(maxAgeMs, Math.max(0, ageMs))) : 0);
}

function isSafeTime(value: number): boolean {
  return Math.abs(value) <= Number.MAX_SAFE_INTEGER;
}

function positionOf(value: number | null | undefined): number | undefined {
  return value !== null && value !== undefined && Math.abs(value) < 1e9 ? value : undefined;
}

function sortByClientTime(events: PlayEvent[]): PlayEvent[] {
  return events.sort((a, b) => a.clientMs - b.clientMs);
}
