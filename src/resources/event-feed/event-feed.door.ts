import type { IncomingMessage } from 'node:http';
import type { z } from 'zod';
import type { EventFeed } from '../../events/feed/event-feed.ts';
import type { Authenticate } from '../../http/caller.ts';
import { refuseAttribute, validate } from '../../http/problems.ts';
import { queryReader } from '../../http/query-parameters.ts';
import type { RateLimiter } from '../../http/rate-limiter.ts';
import type { UpgradeDoor } from '../../http/upgrade-door.ts';
import { AppError } from '../../shared/errors.ts';
import { eventFeedQuery, typesOf } from './event-feed.schema.ts';

/** The version that browsers and all others speak (RFC 6455). */
const webSocketVersion = '13';
const tokenPrefix = 'token.';

/**
 * Lets WebSockets into the feed. What is wrong is answered before the upgrade, in the order of all requests: credentials, limits, query.
 *
 * **Source**: RFC 6455 4.2 (opening handshake, server)
 */
export function eventFeedDoor(options: {
  readonly feed: EventFeed;
  readonly authenticate: Authenticate;
  readonly limiter: RateLimiter;
}): UpgradeDoor {
  const { feed, authenticate, limiter } = options;
  const readQuery = queryReader(eventFeedQuery);
  return {
    path: '/events',
    protocol: 'websocket',
    open: (request, socket, head) => {
      feed.assertOpen();
      const authorization = authorizationOf(request);
      const { projectId, environment } = authenticate(authorization);
      limiter.require({ projectId, environment }, 'reads');
      feed.assertRoom(projectId);
      const input = readQuery((request.url ?? '').split('?')[1] ?? '');
      const [query] = validate([{ source: 'query', schema: eventFeedQuery, input }]) as [
        z.output<typeof eventFeedQuery>,
      ];
      const newest = feed.lastNumber(projectId);
      const afterNumber = query.lastEventId === undefined ? newest : Number(query.lastEventId);
      if (afterNumber > newest) throw refuseAttribute('lastEventId', 'There is no such event yet.');
      if (request.headers['sec-websocket-version'] !== webSocketVersion) {
        const detail = `Only version ${webSocketVersion} of WebSockets is spoken here.`;
        throw new AppError('upgrade-required', undefined, { details: { detail } });
      }
      feed.open(request, socket, head, {
        projectId,
        environment,
        afterNumber,
        types: query.types === undefined ? undefined : new Set(typesOf(query.types)),
        subjectId: query.subjectId,
        recheck: () => {
          // Both keys and tokens name one project for as long as they live.
          authenticate(authorization);
        },
      });
    },
  };
}

/** A browser cannot set the header: it names its token as a subprotocol, which unlike an address is not logged. */
function authorizationOf(request: IncomingMessage): string | undefined {
  const { authorization } = request.headers;
  if (authorization !== undefined) return authorization;
  const offered = (request.headers['sec-websocket-protocol'] ?? '').split(',').map(text => text.trim());
  const token = offered.find(text => text.startsWith(tokenPrefix))?.slice(tokenPrefix.length);
  return token === undefined ? undefined : `Bearer ${token}`;
}
