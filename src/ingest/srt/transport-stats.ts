import type { SrtReceiver } from '../../media/srt/receiver.ts';
import type { TransportStats } from '../../shared/network/transport-stats.ts';

export function transportStats(receiver: SrtReceiver | undefined): TransportStats {
  const { roundTripMs, received = 0, lost = 0, recovered = 0 } = receiver?.stats ?? {};
  return { roundTripMs, packetsReceived: received, packetsLost: lost, packetsRecovered: recovered };
}
