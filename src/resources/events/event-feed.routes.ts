import { defineRoute, type Route } from '../../http/routing/route.ts';
import { AppError } from '../../shared/errors.ts';
import { eventFeedQuery } from './event-feed.schema.ts';

const description = `Open it as a WebSocket (HTTP/1.1), with the \`Authorization\` header, or in a browser with the subprotocols
\`millrace.events.v1\` and \`token.<access token>\`; pages of this server, with the cookie of a session and the subprotocols
\`millrace.events.v1\` and \`environment.sandbox\` or \`environment.production\`. Every message is one JSON object with a \`type\`:

- \`hello\`: the first; \`lastEventId\` is the event after which this connection goes on.
- \`gap\`: events that \`lastEventId\` asked for are no longer kept (7 days); \`oldestEventId\` is the first that follows.
- an event as webhooks get it, with an \`eventId\` beside it. Ids grow by one within a project.
- \`broadcast.stats\`: each second for each broadcast: \`liveStreamId\`, \`broadcastId\`, \`state\` (\`live\`, \`waiting\`, \`stopping\`), \`durationSeconds\`,
  \`bitrateBitsPerSecond\`, \`framesPerSecond\` (means of the last 4 seconds), \`viewers\`, \`droppedFrames\` (by this server), \`missingFrames\` (by the publisher's
  timestamps), \`keyframeIntervalSeconds\`, and all else that \`GET /live-streams/{liveStreamId}/health\` tells, but for alarms. Not kept.
- \`restream.state\`: each second for each destination of a broadcast: \`liveStreamId\`, \`broadcastId\`, \`position\` (from 0), and what
  \`GET /live-streams/{liveStreamId}/restreams\` says of it, without its address. Not kept.
- \`video.encoding.progress\`: \`videoId\`, \`encoding\`, \`quality\`, \`percent\`; at most once a second for each rendition. Not kept.

A client may send \`{"type":"ping"}\`, which is answered with \`{"type":"pong"}\`. The connection ends with 1001 when the server stops,
4401 when the credentials end, 4403 when the account is suspended, 4408 when messages are not read for 30 s, 1008 after anything else
that a client sends. Connections beyond 50 of a project are answered with 429. A request that does not ask for an upgrade is
answered with 426.`;

/** `GET /events` as an ordinary request, which it is not meant to be: WebSockets come in by the door beside. */
export function eventFeedRoutes(): Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/events',
      tag: 'Webhooks',
      summary: 'Listen to events as they happen',
      description,
      auth: 'key',
      query: eventFeedQuery,
      success: { status: 101, description: 'The connection is a WebSocket from here on.' },
      errors: ['upgrade-required', 'server-draining'],
      handle: () => {
        const detail = 'Open it as a WebSocket over HTTP/1.1.';
        throw new AppError('upgrade-required', undefined, { details: { detail } });
      },
    }),
  ];
}
