import { defineRoute, type Route } from '../../../http/routing/route.ts';
import { AppError } from '../../../shared/errors.ts';
import { eventFeedQuery } from './event-feed.schema.ts';

const description = `Open it as a WebSocket (HTTP/1.1), with the \`Authorization\` header, or in a browser with the subprotocols
\`millrace.events.v1\` and \`token.<access token>\`. Pages of this server use a session cookie and the subprotocols
\`millrace.events.v1\` and \`environment.sandbox\` or \`environment.production\`. Every message is a JSON object with a \`type\`:

- \`hello\`: the first message. The connection continues after the event \`lastEventId\`.
- \`gap\`: events after the requested \`lastEventId\` are no longer kept (7 days). \`oldestEventId\` is the first that follows.
- an event as webhooks receive it, with its \`eventId\`. Ids increase by one within a project.
- \`broadcast.stats\`: every second for each broadcast: \`liveStreamId\`, \`broadcastId\`, \`state\` (\`live\`, \`waiting\`, \`stopping\`), \`durationSeconds\`,
  \`bitrateBitsPerSecond\`, \`framesPerSecond\` (averages of the last 4 seconds), \`viewers\`, \`droppedFrames\` (by this server), \`missingFrames\` (by the publisher's
  timestamps), \`keyframeIntervalSeconds\`, and the other fields of \`GET /live-streams/{liveStreamId}/health\` except alarms. Not stored.
- \`restream.state\`: every second for each destination of a broadcast: \`liveStreamId\`, \`broadcastId\`, \`position\` (from 0), and the fields of
  \`GET /live-streams/{liveStreamId}/restreams\` except the address. Not stored.
- \`video.encoding.progress\`: \`videoId\`, \`encoding\`, \`quality\`, \`percent\`, at most once a second for each rendition. Not stored.

A client can send \`{"type":"ping"}\` and gets \`{"type":"pong"}\`. The connection closes with 1001 when the server stops, 4401 when the
credentials end or the role of a session changes, 4403 when the account is suspended, 4408 when messages are not read for 30 s, and 1008 after any other message from the
client. Connections beyond 50 of a project get 429. A request that is not a WebSocket upgrade gets 426.`;

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
