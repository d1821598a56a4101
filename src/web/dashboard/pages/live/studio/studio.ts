import { signal } from '@preact/signals';
import type { LiveStream } from '../../../api/api-types.ts';
import { call } from '../../../api/client.ts';
import { projectHeaders } from '../../../state/session.ts';
import { Broadcaster, type BroadcasterState } from './broadcaster.ts';
import type { PresetName } from './capture.ts';
import type { UplinkStats } from './connection-quality.ts';
import { StudioMedia } from './studio-media.ts';
import { keepScreenOn } from './wake-lock.ts';

const measureEveryMs = 1_000;

export type StudioState = BroadcasterState | { readonly kind: 'off' };

/** Media and connection of one studio page. */
export class Studio {
  readonly media = new StudioMedia(track => void this.#broadcaster?.replaceVideo(track));
  readonly state = signal<StudioState>({ kind: 'off' });
  readonly uplink = signal<UplinkStats | undefined>(undefined);
  #broadcaster: Broadcaster | undefined;
  #measureTimer: number | undefined;
  #allowSleep: (() => void) | undefined;

  get isOnAir(): boolean {
    return ['connecting', 'live', 'reconnecting'].includes(this.state.value.kind);
  }

  goLive({ liveStreamId, streamKey = '' }: LiveStream): void {
    const video = this.media.video.value;
    if (video === undefined || this.isOnAir) return;
    const headers = projectHeaders();
    const broadcaster = new Broadcaster(
      {
        streamKey,
        changed: state => this.#changed(state),
        complete: () =>
          call('PUT /live-streams/{liveStreamId}/complete', { params: { liveStreamId }, headers }).catch(
            // The broadcast ends without, as that of an encoder that stopped.
            () => {},
          ),
      },
      { video, audio: this.media.mixer.track, maxBitsPerSecond: this.media.maxBitsPerSecond },
    );
    this.#broadcaster = broadcaster;
    this.#allowSleep = keepScreenOn();
    this.#measureTimer = setInterval(() => void this.#measure(broadcaster), measureEveryMs);
    void broadcaster.start();
  }

  async setPreset(preset: PresetName): Promise<void> {
    await this.media.setPreset(preset);
    await this.#broadcaster?.setMaxBitrate(this.media.maxBitsPerSecond);
  }

  /** @param text if the server has ended it */
  async end(text?: string): Promise<void> {
    await this.#broadcaster?.end(text);
  }

  close(): void {
    void this.end();
    this.media.close();
  }

  async #measure(broadcaster: Broadcaster): Promise<void> {
    const measured = await broadcaster.measure();
    if (this.#broadcaster === broadcaster) this.uplink.value = measured;
  }

  #changed(state: BroadcasterState): void {
    this.state.value = state;
    if (state.kind === 'live') return;
    this.uplink.value = undefined;
    if (state.kind !== 'ended' && state.kind !== 'failed') return;
    clearInterval(this.#measureTimer);
    this.#allowSleep?.();
    this.#broadcaster = undefined;
  }
}
