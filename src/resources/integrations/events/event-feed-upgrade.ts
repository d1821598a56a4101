import type { IncomingMessage } from 'node:http';
import type { z } from 'zod';
import type { EventFeed } from '../../../events/feed/event-feed.ts';
import type { UpgradeHandler } from '../../../http/listener/upgrade-handler.ts';
import type { Authenticate, Caller } from '../../../http/routing/caller.ts';
import { queryReader } from '../../../http/routing/query-parameters.ts';
import type { RateLimiter } from '../../../http/routing/rate-limiter.ts';
import { requireScope } from '../../../http/routing/scope.ts';
import { attributeError, validate } from '../../../http/routing/validation.ts';
import { AppError } from '../../../shared/errors.ts';
import type { AccessWatch } from '../../identity/accounts/access-watch.ts';
import type { SessionGate } from '../../identity/sessions/session-gate.ts';
import { eventFeedQuery, parseTypes } from './event-feed.schema.ts';

/** RFC 6455. */
const webSocketVersion = '13';
const tokenPrefix = 'token.';
const environmentPrefix = 'environment.';
const projectPrefix = 'project.';

/** Checks credentials, limits and query before the upgrade, in this order. **Source**: RFC 6455 4.2 */
export function eventFeedUpgrade(options: {
  readonly feed: EventFeed;
  readonly authenticate: Authenticate;
  readonly gate: SessionGate;
  readonly limiter: RateLimiter;
  readonly access: Pick<AccessWatch, 'follow'>;
}): UpgradeHandler {
  const { feed, limiter, access } = options;
  const readQuery = queryReader(eventFeedQuery);
  return {
    path: '/events',
    protocol: 'websocket',
    handle: async (request, socket, head) => {
      feed.assertOpen();
      const credentials = credentialsOf(request, options);
      const authenticate = async () => {
        const caller = await credentials();
        requireScope(caller, 'read');
        return caller;
      };
      const { projectId, accountId, environment, actor, scopes } = await authenticate();
      limiter.require({ projectId, environment }, 'reads');
      feed.assertCapacity(projectId);
      const input = readQuery((request.url ?? '').split('?')[1] ?? '');
      const [query] = validate([{ source: 'query', schema: eventFeedQuery, input }]) as [
        z.output<typeof eventFeedQuery>,
      ];
      const newest = await feed.lastNumber(projectId);
      const afterNumber = query.lastEventId === undefined ? newest : Number(query.lastEventId);
      if (afterNumber > newest) throw attributeError('lastEventId', 'This event does not exist yet.');
      if (request.headers['sec-websocket-version'] !== webSocketVersion) {
        const detail = `Use version ${webSocketVersion} of the WebSocket protocol.`;
        throw new AppError('upgrade-required', undefined, { details: { detail } });
      }
      await feed.open(request, socket, head, {
        projectId,
        environment,
        afterNumber,
        types: query.types === undefined ? undefined : new Set(parseTypes(query.types)),
        subjectId: query.subjectId,
        recheck: async () => {
          const now = await authenticate();
          // The session switched to another account, or has another role: the page loads it again.
          const isSameRole = actor.kind !== 'user' || now.scopes.size === scopes.size;
          if (now.projectId === projectId && isSameRole) return;
          throw new AppError('authentication-invalid-session');
        },
        followAccess: changed => access.follow(accountId, changed),
      });
    },
  };
}

/**
 * Repeats the authentication while the connection is open. Browsers cannot set headers: they name their
 * token, or the environment and project of their session, as subprotocols, because unlike an address these are not logged.
 */
function credentialsOf(
  request: IncomingMessage,
  { authenticate, gate }: { authenticate: Authenticate; gate: SessionGate },
): () => Promise<Caller> {
  const { headers, socket } = request;
  const offered = (headers['sec-websocket-protocol'] ?? '').split(',').map(text => text.trim());
  const named = (prefix: string) => offered.find(text => text.startsWith(prefix))?.slice(prefix.length);
  const token = named(tokenPrefix);
  const authorization = headers.authorization ?? (token === undefined ? undefined : `Bearer ${token}`);
  const environment = named(environmentPrefix);
  // The response is gone when the credentials are checked again.
  const setHeader = () => {};
  if (authorization === undefined && (environment === 'sandbox' || environment === 'production')) {
    gate.requireOwnSite(request, { needsOrigin: true });
    const pairId = named(projectPrefix);
    return async () => gate.callerIn({ environment, pairId }, { headers, socket }, setHeader);
  }
  const shown = authorization === undefined ? {} : { authorization };
  return async () => authenticate({ headers: shown, socket }, setHeader);
}
