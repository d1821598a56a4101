import { expect, it } from 'vitest';
import { createLogger } from '../../../src/shared/logger.ts';

it('writes each key once, and the innermost component', async () => {
  const lines: string[] = [];
  const log = await createLogger({ level: 'info', pretty: false, sink: { write: line => lines.push(line) } });
  log.child('live', { liveStreamId: 'li1' }).child('restreams', { position: 0 }).info('opened', { tries: 1 });
  const { time, ...line } = JSON.parse(lines[0]!) as Record<string, unknown>;
  expect(Date.parse(String(time))).not.toBeNaN();
  expect(line).toEqual({
    level: 'info',
    liveStreamId: 'li1',
    component: 'restreams',
    position: 0,
    event: 'opened',
    tries: 1,
  });
  expect(lines[0]!.match(/"component"/g)).toHaveLength(1);
});
