/**
 * A receiver of webhooks: answers every request with 200 and tells when the last of the expected ones came. Its order is one JSON
 * argument; reports go to the parent process.
 */
import { createServer } from 'node:http';

/** What the receiver is to do. */
export interface ReceiverOrder {
  /** 0 picks a free one. */
  readonly port: number;
  readonly expected: number;
}

/** What the receiver tells: that it listens, and that all came. */
export type ReceiverReport =
  | { readonly kind: 'listening'; readonly port: number }
  | {
      readonly kind: 'complete';
      /** Wall-clock times. */
      readonly firstAtMs: number;
      readonly lastAtMs: number;
      readonly requests: number;
      /** Pairs of one resource that came in the wrong order. */
      readonly disordered: number;
    };

const order = JSON.parse(process.argv[2]!) as ReceiverOrder;
const seen = new Set<string>();
const lastOf = new Map<string, number>();
let requests = 0;
let disordered = 0;
let firstAtMs = 0;

const server = createServer((request, response) => {
  let body = '';
  request.setEncoding('utf8');
  request.on('data', text => {
    body += text;
  });
  request.on('end', () => {
    response.end();
    const { liveStreamId } = JSON.parse(body) as { liveStreamId: string };
    const number = Number(request.headers['millrace-event-id']);
    requests += 1;
    if (requests === 1) firstAtMs = Date.now();
    if (number < (lastOf.get(liveStreamId) ?? 0)) disordered += 1;
    lastOf.set(liveStreamId, number);
    seen.add(String(request.headers['millrace-delivery-id']));
    if (seen.size === order.expected) {
      tell({ kind: 'complete', firstAtMs, lastAtMs: Date.now(), requests, disordered });
    }
  });
});
server.listen(order.port, '127.0.0.1', () => {
  const address = server.address();
  tell({ kind: 'listening', port: typeof address === 'object' && address !== null ? address.port : 0 });
});
process.on('message', () => process.exit(0));
process.on('disconnect', () => process.exit(0));

function tell(report: ReceiverReport): void {
  process.send?.(report);
}
