import type { IncomingMessage } from 'node:http';
import { defineRoute, jsonBody, type Route } from '../../../http/routing/route.ts';
import type { Clock } from '../../../shared/clock.ts';
import { newId } from '../../../shared/ids.ts';
import {
  legacyAnswerSchema,
  legacyReportSchema,
  parseLegacyReport,
  parseWatchReport,
  watchSchema,
} from './playback-report.ts';
import type { PlaybackTracker, ReportSender } from './playback-tracker.ts';

interface PlaybackReportRoutesOptions {
  readonly tracker: PlaybackTracker;
  readonly addressOf: (request: IncomingMessage) => string;
  readonly clock: Clock;
}

export function playbackReportRoutes({ tracker, addressOf, clock }: PlaybackReportRoutesOptions): Route[] {
  const senderOf = (request: IncomingMessage): ReportSender => ({
    address: addressOf(request),
    userAgent: request.headers['user-agent'] ?? '',
  });
  const legacyRoute = <const Path extends '/vod' | '/live'>(path: Path, media: string) =>
    defineRoute({
      method: 'POST',
      path,
      tag: 'Analytics',
      summary: `Report the playback of a ${media}, older protocol`,
      description: 'For older player libraries. The body is read as JSON whatever its content type says.',
      auth: 'none',
      body: jsonBody(legacyReportSchema),
      errors: ['too-many-requests', 'server-busy'],
      success: {
        status: 200,
        description: 'The session to send with the next report.',
        schema: legacyAnswerSchema,
      },
      handle: async ({ body, incoming }) => {
        const report = parseLegacyReport(body, clock.nowMs(), () => newId('ps'));
        await tracker.handle(report, senderOf(incoming));
        return { session: report.playbackId };
      },
    });
  return [
    defineRoute({
      method: 'POST',
      path: '/watch',
      tag: 'Analytics',
      summary: 'Report a playback',
      description:
        'For player libraries: the events since the last report. The body is read as JSON whatever its content type says. Reports of unknown media are accepted and ignored.',
      auth: 'none',
      body: jsonBody(watchSchema),
      errors: ['too-many-requests', 'server-busy'],
      success: { status: 202, description: 'Accepted.' },
      handle: ({ body, incoming }) =>
        tracker.handle(parseWatchReport(body, clock.nowMs()), senderOf(incoming)),
    }),
    legacyRoute('/vod', 'video'),
    legacyRoute('/live', 'live stream'),
  ];
}
