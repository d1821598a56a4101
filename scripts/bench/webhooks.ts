import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Outbox } from '../../src/events/outbox.store.ts';
import { silentLogger } from '../../src/shared/logger.ts';
import { openDatabase } from '../../src/store/database.ts';
import { type ServerProcess, startServerProcess } from '../server-process.ts';
import { type Bench, HelperProcess } from './bench-context.ts';
import { usageOf } from './process-usage.ts';
import type { ReceiverOrder, ReceiverReport } from './receiver-process.ts';
import { judge } from './report.ts';

const name = 'webhooks';
const eventName = 'live-stream.broadcast.started';
const eventsOfOneStream = 2;

/**
 * How fast queued deliveries go to a local receiver. They are queued while the server is down and another receiver takes connections
 * without ever answering; then the server starts with the receiver away for a while, so that what drains has failed before.
 */
export const benchWebhooks: Bench = async context => {
  const count = context.isShort ? 2_000 : 10_000;
  const dataDir = await mkdtemp(join(context.folder, 'data-'));
  const env = { MILLRACE_ALLOW_PRIVATE_TARGETS: 'true', MILLRACE_LOG_LEVEL: 'info' };
  const dead = createServer(() => {});
  dead.listen(0, '127.0.0.1');
  const helpers: HelperProcess<ReceiverReport>[] = [];
  const startReceiver = async (port: number) => {
    const order: ReceiverOrder = { port, expected: count };
    const helper = new HelperProcess<ReceiverReport>('./receiver-process.ts', order);
    helpers.push(helper);
    const listening = await helper.report();
    if (listening.kind !== 'listening') throw new Error('the receiver did not listen');
    return { helper, port: listening.port };
  };
  const completion = async (helper: HelperProcess<ReceiverReport>) => {
    const report = await helper.report(({ kind }) => kind === 'complete');
    if (report.kind !== 'complete') throw new Error('not complete');
    return report;
  };
  let server: ServerProcess | undefined;
  try {
    // A first receiver, whose deliveries drain from the start.
    let receiver = await startReceiver(0);
    const { port: deadPort } = dead.address() as { port: number };
    server = await startServerProcess({ dataDir, env });
    const projectId = await makeWebhooks(server, dataDir, [receiver.port, deadPort]);
    await queue(dataDir, projectId, count);
    server = await startServerProcess({ dataDir, env });
    const first = await completion(receiver.helper);
    const drainSeconds = (first.lastAtMs - first.firstAtMs) / 1_000;
    const cpuSeconds = usageOf([server.child.pid!]).cpuSeconds;
    await receiver.helper.stop();
    await server.stop();

    await queue(dataDir, projectId, count);
    server = await startServerProcess({ dataDir, env });
    const startedAtMs = Date.now();
    await sleep(context.isShort ? 3_000 : 12_000);
    receiver = await startReceiver(receiver.port);
    const backAtMs = Date.now();
    const second = await completion(receiver.helper);
    return [
      judge(name, {
        what: `${count} queued deliveries, first to last, beside a dead receiver`,
        value: drainSeconds,
        unit: 's',
        atMost: 10,
      }),
      judge(name, { what: 'a second', value: count / drainSeconds, unit: '' }),
      judge(name, { what: "server's processor time for all", value: cpuSeconds, unit: 's' }),
      judge(name, {
        what: `${count} that failed while the receiver was away ${Math.round((backAtMs - startedAtMs) / 1_000)} s, from its return to the last`,
        value: (second.lastAtMs - backAtMs) / 1_000,
        unit: 's',
        atMost: 15,
      }),
      judge(name, {
        what: 'came twice',
        value: first.requests + second.requests - 2 * count,
        unit: '',
        atMost: 0,
      }),
      judge(name, {
        what: 'came in the wrong order',
        value: first.disordered + second.disordered,
        unit: '',
        atMost: 0,
      }),
    ];
  } finally {
    await server?.stop();
    for (const helper of helpers) await helper.stop();
    dead.close();
    await rm(dataDir, { recursive: true, force: true });
  }
};

/** Makes a webhook for each port and stops the server; the project that they belong to. */
async function makeWebhooks(
  server: ServerProcess,
  dataDir: string,
  ports: readonly number[],
): Promise<string> {
  const authorization = `Basic ${Buffer.from(`${server.productionKey}:`).toString('base64')}`;
  for (const port of ports) {
    const answer = await fetch(`${server.baseUrl}/webhooks`, {
      method: 'POST',
      headers: { authorization },
      body: JSON.stringify({ events: [eventName], url: `http://127.0.0.1:${port}/` }),
    });
    if (answer.status !== 201) throw new Error(`a webhook was answered with ${answer.status}`);
  }
  await server.stop();
  const database = openDatabase({ dataDir });
  try {
    return database.first(database.queries.selectFrom('webhooks').select('project_id'))!.project_id;
  } finally {
    await database.stop();
  }
}

/** Writes down events as the server does. */
async function queue(dataDir: string, projectId: string, count: number): Promise<void> {
  const database = openDatabase({ dataDir });
  const outbox = new Outbox(database, silentLogger);
  database.transaction(() => {
    for (let index = 0; index < count; index += 1) {
      const liveStreamId = `li${Math.floor(index / eventsOfOneStream)}`;
      outbox.append(
        { projectId, type: eventName, subjectId: liveStreamId, payload: { liveStreamId } },
        Date.now(),
      );
    }
  });
  await database.stop();
}
