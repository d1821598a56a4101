/**
 * The server, with a clock that goes on with the media that is published to it, however fast that comes: hours of a broadcast are hours
 * for it. For one publisher at a time. At SIGUSR2 it collects its garbage and prints what it holds, as {@link HeldMemory}.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { startApp } from '../../src/app.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import type { FollowBroadcast } from '../../src/live/broadcast-follower.ts';
import type { Clock } from '../../src/shared/clock.ts';
import { createLogger } from '../../src/shared/logger.ts';

/** In bytes. */
export interface HeldMemory {
  /** Objects of JavaScript that are in use. */
  readonly heap: number;
  /** What buffers hold. */
  readonly buffers: number;
}

// As src/main.ts does.
setFlagsFromString('--heap-growing-percent=300');
setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;
process.on('SIGUSR2', () => {
  collectGarbage();
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  console.log(`memory ${JSON.stringify({ heap: heapUsed, buffers: external } satisfies HeldMemory)}`);
});

/** What was skipped of the machine's time. */
let skippedMs = 0;
const clock: Clock = {
  nowMs: () => Date.now() + Math.round(skippedMs),
  monotonicMs: () => performance.now() + skippedMs,
};
const follow: FollowBroadcast = () => {
  let beganAtMs: number | undefined;
  return [
    {
      name: 'clock',
      tag: ({ atMs }) => {
        beganAtMs ??= clock.monotonicMs() - atMs;
        skippedMs += Math.max(0, beganAtMs + atMs - clock.monotonicMs());
      },
      ended: () => {},
    },
  ];
};

const config = loadConfig({ file: 'config/server.json', fileRequired: false, env: process.env, flags: {} });
const log = await createLogger({ level: config['log.level'], pretty: false });
const app = await startApp(config, { log, variables: process.env, clock, follow });
process.once('SIGTERM', async () => {
  await app.drain(Date.now() + config.drainTimeout);
  await app.stop();
  process.exit(0);
});
log.child('main').info('ready', { http: app.httpPort, rtmp: app.rtmpPort });
