import type { TransportStats } from '../../shared/network/transport-stats.ts';

const windowMs = 15_000;

/** Measures the share of packets that were lost for good in the last 15 s. */
export class PacketLoss {
  /** About one a second, oldest first. */
  #counts: { readonly nowMs: number; readonly lost: number; readonly received: number }[] = [];

  restart(): void {
    this.#counts = [];
  }

  share({ packetsLost, packetsRecovered, packetsReceived }: TransportStats, nowMs: number): number {
    const newest = { nowMs, lost: packetsLost - packetsRecovered, received: packetsReceived };
    this.#counts = [...this.#counts.filter(old => nowMs - old.nowMs <= windowMs), newest];
    const oldest = this.#counts[0]!;
    const lost = Math.max(0, newest.lost - oldest.lost);
    return lost === 0 ? 0 : lost / (lost + newest.received - oldest.received);
  }
}
