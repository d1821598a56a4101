import { describe, expect, it } from 'vitest';
import { LatencyControl } from '../../../../../src/web/player/live/latency-control.ts';

const partMs = 200;

interface Network {
  /** Delay of each part, counted from the end of its media. */
  delayMs(part: number): number;
  /** Time between two calls of the timer; calls at arrivals come on top. */
  readonly tickMs?: number;
}

/** A player that follows a broadcast whose parts arrive in order over `network`. Media and clock begin together. */
class Viewer {
  readonly control = new LatencyControl();
  readonly rates: number[] = [];
  position: number;
  stalls = 0;
  nowMs: number;
  #end: number;
  #part: number;
  #rate = 1;
  #isStalled = false;
  #nextTickMs = 0;
  readonly #network: Network;

  constructor(network: Network, startLatency: number) {
    this.#network = network;
    this.nowMs = 10_000;
    this.#part = Math.floor(this.nowMs / partMs) - 1;
    this.#end = (this.#part * partMs) / 1000;
    this.position = this.nowMs / 1000 - startLatency;
    this.#nextTickMs = this.nowMs;
  }

  get latency(): number {
    return this.nowMs / 1000 - this.position;
  }

  play(seconds: number): void {
    const untilMs = this.nowMs + seconds * 1000;
    for (; this.nowMs < untilMs; this.nowMs += 5) {
      this.#move();
      if (this.#receive() || this.nowMs >= this.#nextTickMs) this.#tick();
    }
  }

  /** The device sleeps, and playback then jumps to the live edge. */
  sleep(seconds: number): void {
    this.nowMs += seconds * 1000;
    this.#tick();
    this.#receive();
    this.position = this.nowMs / 1000 - 1;
    this.control.restart();
  }

  #move(): void {
    const next = this.position + 0.005 * this.#rate;
    if (next <= this.#end) {
      this.position = next;
      this.#isStalled = false;
      return;
    }
    this.position = Math.max(this.position, this.#end);
    if (this.#isStalled) return;
    this.#isStalled = true;
    this.stalls += 1;
    this.control.stalled(this.nowMs);
  }

  #receive(): boolean {
    const before = this.#part;
    while ((this.#part + 1) * partMs + this.#network.delayMs(this.#part + 1) <= this.nowMs) this.#part += 1;
    this.#end = (this.#part * partMs) / 1000;
    return this.#part > before;
  }

  #tick(): void {
    this.#nextTickMs = this.nowMs + (this.#network.tickMs ?? 100);
    this.control.buffered(this.nowMs, this.#end);
    const rate = this.control.rateAt(this.nowMs, this.position);
    if (rate !== this.#rate) this.rates.push(rate);
    this.#rate = rate;
  }
}

/** The same for each run. */
const noise = (index: number) => (((index * 7919) % 101) + ((index * 104_729) % 97)) / 196;

describe('the latency control', () => {
  it('approaches the live edge and stays there for ten minutes without a stall', () => {
    const viewer = new Viewer({ delayMs: () => 40 }, 1.1);
    viewer.play(60);
    expect(viewer.latency).toBeCloseTo(0.44, 1);
    const changes = viewer.rates.length;
    viewer.play(540);
    expect(viewer.stalls).toBe(0);
    expect(viewer.latency).toBeCloseTo(0.44, 1);
    expect(viewer.rates.length - changes).toBeLessThan(4);
    expect(Math.max(...viewer.rates)).toBeLessThanOrEqual(1.1);
  });

  it('keeps a distance that covers the jitter', () => {
    const viewer = new Viewer({ delayMs: part => 40 + noise(part) * 300 }, 1.5);
    viewer.play(600);
    expect(viewer.stalls).toBe(0);
    expect(viewer.latency).toBeGreaterThan(0.6);
    expect(viewer.latency).toBeLessThan(0.85);
  });

  it('builds the margin up by playing slower when it starts too near the edge', () => {
    const viewer = new Viewer({ delayMs: () => 40 }, 0.26);
    viewer.play(20);
    expect(viewer.stalls).toBe(0);
    expect(Math.min(...viewer.rates)).toBeGreaterThan(0.9);
    expect(viewer.latency).toBeGreaterThan(0.35);
  });

  it('steps back after a stall, and returns slowly', () => {
    let outageAtPart = Number.POSITIVE_INFINITY;
    const viewer = new Viewer(
      { delayMs: part => (part >= outageAtPart && part < outageAtPart + 3 ? 900 : 40) },
      0.5,
    );
    viewer.play(30);
    const before = viewer.latency;
    outageAtPart = Math.ceil(viewer.nowMs / partMs) + 2;
    viewer.play(5);
    expect(viewer.stalls).toBe(1);
    viewer.play(55);
    expect(viewer.stalls).toBe(1);
    expect(viewer.latency).toBeGreaterThan(before + 0.15);
    viewer.play(180);
    expect(viewer.latency).toBeCloseTo(before, 1);
    expect(viewer.stalls).toBe(1);
  });

  it('stalls ever more rarely on a network with regular outages', () => {
    const viewer = new Viewer({ delayMs: part => (part % 150 < 2 ? 700 : 40) }, 0.5);
    viewer.play(300);
    const { stalls } = viewer;
    viewer.play(300);
    expect(stalls).toBeLessThanOrEqual(4);
    expect(viewer.stalls - stalls).toBeLessThanOrEqual(3);
    expect(viewer.latency).toBeLessThan(2);
  });

  it('plays on in a background tab, where timers run once a second', () => {
    const viewer = new Viewer({ delayMs: () => 40, tickMs: 1000 }, 1);
    viewer.play(120);
    expect(viewer.stalls).toBe(0);
    expect(viewer.latency).toBeCloseTo(0.44, 1);
  });

  it('holds playback at the start and after a stall until the margin is there, but not for ever', () => {
    const control = new LatencyControl();
    control.started(1000);
    control.buffered(1000, 1.1);
    expect(control.rateAt(1000, 1)).toBe(0);
    control.buffered(1300, 1.01 + control.marginSeconds);
    expect(control.rateAt(1300, 1)).toBe(1);

    const before = control.marginSeconds;
    control.stalled(2000);
    control.buffered(2500, 2);
    expect(control.marginSeconds - before).toBeCloseTo(0.5);
    expect(control.rateAt(3000, 1.9)).toBe(0);
    expect(control.rateAt(3600, 1.9)).toBeGreaterThan(0.9);
  });

  it('does not take a sleep of the device for jitter once playback has jumped to the live edge', () => {
    const viewer = new Viewer({ delayMs: () => 40 }, 0.5);
    viewer.play(20);
    viewer.sleep(3600);
    viewer.play(60);
    expect(viewer.stalls).toBe(0);
    expect(viewer.latency).toBeCloseTo(0.44, 1);
  });
});
