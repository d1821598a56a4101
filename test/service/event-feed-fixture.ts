import { once } from 'node:events';
import { onTestFinished } from 'vitest';
import { type ClientOptions, WebSocket } from 'ws';
import { EventFeed, type EventFeedOptions } from '../../src/events/feed/event-feed.ts';
import type { FeedCloseReason } from '../../src/events/feed/feed-client.ts';
import { Outbox } from '../../src/events/outbox.store.ts';
import { systemClock } from '../../src/shared/clock.ts';
import { silentLogger } from '../../src/shared/logger.ts';
import type { Connection } from '../../src/store/connection.ts';
import { runSql } from '../support/sql.ts';
import {
  basic,
  type StartApiOptions,
  sandboxKey,
  sandboxProjectOf,
  startApi,
  type TestApi,
} from '../support/start-api.ts';
import { waitUntil } from '../support/wait-until.ts';

/** An API with the feed at `/events`. */
export interface FeedServer {
  readonly server: TestApi;
  readonly feed: EventFeed;
  readonly outbox: Outbox;
  /** Opens the project that is listened to unless a test says otherwise. */
  readonly key: string;
  readonly projectId: string;
  readonly ends: FeedCloseReason[];
  readonly counts: { event: number; transient: number; dropped: number };
  /** Writes an event down, of that project unless told otherwise. */
  append(subjectId: string, projectId?: string, connection?: Connection): Promise<void>;
  stop(): Promise<void>;
}

/** A server that ends with the test. */
export async function startFeed(...options: Parameters<typeof openFeed>): Promise<FeedServer> {
  const running = await openFeed(...options);
  onTestFinished(() => running.stop());
  return running;
}

/** A server that the caller stops. */
export async function openFeed(
  change: Partial<EventFeedOptions> = {},
  api: StartApiOptions = {},
): Promise<FeedServer> {
  const ends: FeedCloseReason[] = [];
  const counts = { event: 0, transient: 0, dropped: 0 };
  let outbox!: Outbox;
  let feed!: EventFeed;
  const server = await startApi({
    ...api,
    feed: database => {
      outbox = new Outbox(database, silentLogger);
      feed = new EventFeed({
        outbox,
        signals: database.signals,
        broadcasts: () => [],
        projectOfVideo: async () => undefined,
        observer: {
          clientOpened() {},
          clientClosed: end => void ends.push(end),
          sent: (kind, count) => {
            counts[kind] += count;
          },
          dropped: count => {
            counts.dropped += count;
          },
        },
        clock: api.clock ?? systemClock,
        log: silentLogger,
        tickMs: 20,
        ...change,
      });
      return feed;
    },
  });
  const sandbox = await sandboxProjectOf(server.database);
  return {
    server,
    feed,
    outbox,
    key: sandboxKey,
    projectId: sandbox,
    ends,
    counts,
    stop: async () => {
      await feed.stop();
      await server.stop();
    },
    append: (subjectId, projectId = sandbox, connection = server.database) =>
      outbox.append(
        {
          projectId,
          type: 'video.encoding.quality.completed',
          subjectId,
          payload: { videoId: subjectId, encoding: 'hls', quality: '240p' },
        },
        Date.now(),
        connection,
      ),
  };
}

/** Makes a history of `count` long events for the project, which has none yet. */
export async function fillHistory({ server, projectId }: FeedServer, count: number): Promise<void> {
  const { database } = server;
  await runSql(
    database,
    `WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ?)
     INSERT INTO events (project_id, number, type, subject_id, payload, created_at_ms)
     SELECT ?, n, 'video.encoding.quality.completed', 'vi', ?, ? FROM numbers`,
    ...[count, projectId, JSON.stringify({ videoId: 'x'.repeat(2_000) }), Date.now()],
  );
  await runSql(database, 'INSERT INTO event_counters (project_id, last) VALUES (?, ?)', projectId, count);
}

/** The same server, as somebody new sees it. */
export async function asNewAccount(running: FeedServer): Promise<FeedServer> {
  const { sandboxKey: key, projectIds } = await running.server.addAccount();
  const projectId = projectIds.sandbox;
  return {
    ...running,
    key,
    projectId,
    append: (subjectId, other = projectId, connection) => running.append(subjectId, other, connection),
  };
}

/** A message as it came. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into messages of every shape.
export type Message = any;

/** A WebSocket that notes what it hears. */
export interface Listener {
  readonly socket: WebSocket;
  readonly messages: Message[];
  /** The events among them. */
  readonly ids: () => number[];
  readonly subjects: () => string[];
  /** Resolves with the code when it is closed. */
  readonly closed: Promise<number>;
  until(count: number): Promise<Message[]>;
}

/** Connects with the key of the project unless told otherwise; resolves at the greeting. */
export async function listen(
  running: FeedServer,
  options: {
    query?: string;
    key?: string;
    protocols?: string[];
    headers?: Record<string, string>;
    client?: ClientOptions;
    url?: string;
  } = {},
): Promise<Listener> {
  const { server } = running;
  const { query = '', key = running.key, protocols = [] } = options;
  const headers = options.headers ?? { authorization: basic(key) };
  const socket = new WebSocket(options.url ?? `${server.baseUrl}/events${query}`, protocols, {
    headers,
    ...options.client,
  });
  onTestFinished(() => socket.terminate());
  const messages: Message[] = [];
  socket.on('message', data => messages.push(JSON.parse(String(data))));
  const closed = once(socket, 'close').then(([code]) => code as number);
  closed.catch(() => {});
  const events = () => messages.filter(message => message.eventId !== undefined);
  await once(socket, 'open');
  const listener: Listener = {
    socket,
    messages,
    ids: () => events().map(message => Number(message.eventId)),
    subjects: () => events().map(message => message.videoId),
    closed,
    until: async count => {
      await waitUntil(() => messages.length >= count, {
        what: () => `${count} messages, not ${JSON.stringify(messages)}`,
      });
      return messages;
    },
  };
  await listener.until(1);
  return listener;
}

/** The answer to an upgrade that is refused. */
export async function refusalOf(
  { server }: FeedServer,
  path: string,
  headers: Record<string, string> = { authorization: basic(sandboxKey) },
): Promise<{ status: number; headers: Record<string, unknown>; json: Message }> {
  const socket = new WebSocket(`${server.baseUrl}${path}`, { headers });
  socket.on('error', () => {});
  const [, response] = await once(socket, 'unexpected-response');
  let text = '';
  for await (const chunk of response.setEncoding('utf8')) text += chunk;
  return { status: response.statusCode, headers: response.headers, json: JSON.parse(text) };
}
