import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import { Outbox } from '../../src/events/outbox.store.ts';
import { DeliveryCleanupStore } from '../../src/events/webhooks/delivery-cleanup.store.ts';
import { DeliveryCleanup } from '../../src/events/webhooks/delivery-cleanup.ts';
import { WebhookDispatcher, type WebhookLeaderLease } from '../../src/events/webhooks/webhook-dispatcher.ts';
import type { WebhookObserver } from '../../src/events/webhooks/webhook-lane.ts';
import { WebhookSender, type WebhookSenderOptions } from '../../src/events/webhooks/webhook-sender.ts';
import type { Clock } from '../../src/shared/clock.ts';
import { silentLogger } from '../../src/shared/logger.ts';
import { HostResolver } from '../../src/shared/network/host-resolver.ts';
import type { Connection } from '../../src/store/connection.ts';
import { singleValue } from '../support/sql.ts';
import { type StartApiOptions, sandboxKey, startApi, type TestApi } from '../support/start-api.ts';

/** Leader lease of the only server. */
export const heldLeaderLease: WebhookLeaderLease = { isLeader: true, on: ({ take }) => take() };

/** A request that a receiver got. */
export interface ReceivedHook {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into events of every shape.
  readonly json: any;
  readonly path: string;
}

/** A real receiver; ends with the test. */
export interface Receiver {
  readonly url: string;
  readonly port: number;
  readonly hooks: ReceivedHook[];
  readonly server: Server;
  /** The response; 200 at first. */
  answer: (hook: ReceivedHook, response: ServerResponse) => void;
}

/** Starts a receiver on a free port. */
export async function startReceiver(port = 0): Promise<Receiver> {
  const hooks: ReceivedHook[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request.setEncoding('utf8')) body += chunk;
    const hook = { headers: request.headers, body, json: JSON.parse(body), path: request.url ?? '' };
    hooks.push(hook);
    receiver.answer(hook, response);
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const bound = (server.address() as AddressInfo).port;
  const receiver: Receiver = {
    url: `http://127.0.0.1:${bound}/in`,
    port: bound,
    hooks,
    server,
    answer: (_, response) => void response.end(),
  };
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return receiver;
}

/** An API whose webhooks are told of events. */
export interface RunningWebhooks extends TestApi {
  readonly outbox: Outbox;
  readonly dispatcher: WebhookDispatcher;
  readonly projectId: string;
  /** Makes a webhook of the sandbox; what the API answered. */
  hook(
    url: string,
    events?: readonly string[],
    key?: string,
  ): Promise<{ webhookId: string; signatureSecret: string }>;
  /** Writes down that a live stream began to broadcast. */
  started(liveStreamId: string, projectId?: string, connection?: Connection): Promise<void>;
}

/** Starts the API and the sending of events; both end with the test. */
export async function startWebhooks(
  options: Partial<WebhookSenderOptions> & {
    readonly clock?: Clock;
    readonly observer?: WebhookObserver;
    readonly api?: StartApiOptions;
  } = {},
): Promise<RunningWebhooks> {
  let outbox: Outbox | undefined;
  const { clock, observer, api: apiOptions, ...senderOptions } = options;
  const clockOption = clock === undefined ? {} : { clock };
  const resolver = new HostResolver();
  const sender = new WebhookSender({
    allowPrivateTargets: true,
    resolve: hostname => resolver.resolve(hostname),
    timeoutMs: 5_000,
    ...senderOptions,
  });
  const api = await startApi({
    ...apiOptions,
    ...clockOption,
    webhookSender: sender,
    webhooks: database => {
      outbox = new Outbox(database, silentLogger);
      return outbox.webhooks;
    },
  });
  const sweeper = new DeliveryCleanup({
    store: new DeliveryCleanupStore(api.database),
    leaderLease: heldLeaderLease,
    ...clockOption,
    log: silentLogger,
  });
  const dispatcher = new WebhookDispatcher({
    queue: outbox!.webhooks,
    sender,
    leaderLease: heldLeaderLease,
    version: '0.0.0',
    webhookRemoved: () => sweeper.schedule(),
    observer,
    ...clockOption,
    log: silentLogger,
  });
  await sweeper.start();
  await dispatcher.start();
  onTestFinished(async () => {
    await dispatcher.stop();
    await sweeper.stop();
    await api.stop();
  });
  const projectId = (await singleValue<string>(
    api.database,
    `SELECT id FROM projects WHERE environment = 'sandbox'`,
  ))!;
  return {
    ...api,
    outbox: outbox!,
    dispatcher,
    projectId,
    async hook(url, events = ['live-stream.broadcast.started'], key = sandboxKey) {
      const { status, json, text } = await api.call('POST', '/webhooks', { body: { events, url }, key });
      if (status !== 201) throw new Error(`the webhook was refused: ${text}`);
      return json;
    },
    started(liveStreamId, owner = projectId, connection = api.database) {
      const event = {
        projectId: owner,
        type: 'live-stream.broadcast.started',
        subjectId: liveStreamId,
        payload: { liveStreamId },
      };
      return outbox!.append(event, (clock ?? { nowMs: Date.now }).nowMs(), connection);
    },
  };
}

/** A clock that stands still until it is moved; durations are real. */
export class MovedClock implements Clock {
  #nowMs = Date.UTC(2026, 2, 4, 5, 6, 7);

  nowMs(): number {
    return this.#nowMs;
  }

  monotonicMs(): number {
    return performance.now();
  }

  move(ms: number): void {
    this.#nowMs += ms;
  }
}
