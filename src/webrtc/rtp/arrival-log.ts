import { type TransportFeedback, writeTransportFeedback } from '../../media/rtp/rtcp.ts';
import { extendedNumber } from '../srtp/srtp-session.ts';

/** One feedback packet reports this many at most, and this fits a datagram. */
const maxReported = 400;
/** Half a minute at most waits for its report. */
const maxKept = 4_000;

/** Arrival times by transport-wide number, until they are reported. */
export class ArrivalLog {
  readonly #arrivalsUs = new Map<number, number>();
  #highest: number | undefined;
  /** First sequence number of the next report. */
  #next = 0;
  #count = 0;

  add(number: number, nowMs: number): void {
    const extended = extendedNumber(this.#highest, number);
    if (this.#highest === undefined) this.#next = extended;
    else if (extended < this.#next || extended - this.#next > maxKept) {
      // Reported as missing already, or the sender has started over.
      if (Math.abs(extended - this.#next) <= maxKept) return;
      this.#arrivalsUs.clear();
      this.#next = extended;
      this.#highest = extended;
    }
    this.#highest = Math.max(this.#highest ?? extended, extended);
    this.#arrivalsUs.set(extended, Math.round(nowMs * 1000));
  }

  /** Undefined when nothing has arrived since the last one. */
  report(senderSsrc: number, mediaSsrc: number): Buffer | undefined {
    if (this.#arrivalsUs.size === 0 || this.#highest === undefined) return undefined;
    let first = this.#next;
    while (!this.#arrivalsUs.has(first)) first += 1;
    const end = Math.min(this.#highest + 1, first + maxReported);
    const arrivalsUs: TransportFeedback['arrivalsUs'] = Array.from({ length: end - first }, (_, index) => {
      const arrivalUs = this.#arrivalsUs.get(first + index);
      this.#arrivalsUs.delete(first + index);
      return arrivalUs;
    });
    this.#next = end;
    const count = this.#count++;
    return writeTransportFeedback({ senderSsrc, mediaSsrc, firstNumber: first, arrivalsUs, count });
  }
}
