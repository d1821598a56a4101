import type { IngestObserver } from '../ingest/ingest-observer.ts';
import type { PublishGate } from '../ingest/publish-gate.ts';
import type { BroadcastRegistry } from '../live/broadcast/broadcast-registry.ts';
import type { IngestLog } from '../live/health/ingest-log.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { PublishHook } from '../resources/integrations/hooks/publish-hook.ts';
import type { Foundation } from './foundation.ts';

/** Gate for the publishers of all protocols. */
export function publishGate(
  { config }: Foundation,
  {
    registry,
    publishHook,
    ingestLog,
  }: { registry: BroadcastRegistry; publishHook: PublishHook; ingestLog: IngestLog },
): PublishGate {
  return {
    mediaTimeoutMs: config['rtmp.idleTimeout'],
    request: async (request, connection) => {
      const decision = await publishHook.decide(request);
      if (!decision.accepted) {
        ingestLog.refused(decision.liveStreamId, request, decision);
        return decision;
      }
      const answer = await registry.admit(decision.streamKey, connection);
      if (!answer.accepted && answer.reason === 'unknown-key') ingestLog.unknownKey(request, answer);
      return answer.accepted ? { accepted: true, sink: answer.handler } : answer;
    },
  };
}

export function ingestObserver(metrics: Metrics): IngestObserver {
  return {
    connectionOpened: () => metrics.ingestConnections.inc(),
    connectionClosed: reason => {
      metrics.ingestConnections.dec();
      metrics.connectionsDropped.inc({ side: 'publisher', reason });
    },
    bytesIn: count => metrics.countBytesIn(count),
    publisherOpened: () => metrics.publishers.inc(),
    publisherClosed: () => metrics.publishers.dec(),
    refused: reason => metrics.publishersRefused.inc({ reason }),
    packets: (received, lost, recovered) => metrics.countIngestPackets(received, lost, recovered),
  };
}
