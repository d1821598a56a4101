interface PlayerEvents {
  onTime(seconds: number): void;
  onReady(): void;
  onEnded(): void;
  onPlaying(): void;
}

/** The player in its frame, which understands the messages of the player SDK. */
export class FramedPlayer {
  readonly #frame: HTMLIFrameElement;
  seconds = 0;

  constructor(frame: HTMLIFrameElement, events: PlayerEvents) {
    this.#frame = frame;
    addEventListener('message', ({ source, origin, data }: MessageEvent<unknown>) => {
      if (source !== frame.contentWindow || origin !== location.origin) return;
      if (typeof data !== 'object' || data === null) return;
      const { type, currentTime } = data as { readonly type?: unknown; readonly currentTime?: unknown };
      if (type === 'timeupdate' && typeof currentTime === 'number') {
        this.seconds = currentTime;
        events.onTime(currentTime);
      } else if (type === 'ready') events.onReady();
      else if (type === 'ended') events.onEnded();
      else if (type === 'play') events.onPlaying();
    });
  }

  /** Plays from there. */
  seekTo(seconds: number): void {
    this.#send({ message: 'setCurrentTime', currentTime: seconds });
    this.#send({ message: 'play' });
  }

  /** Shows another player page, with the options of this one. */
  load(address: string): void {
    const { hash } = new URL(this.#frame.src);
    this.seconds = 0;
    this.#frame.contentWindow?.location.replace(`${address}?embed${hash}`);
  }

  #send(message: Readonly<Record<string, unknown>>): void {
    this.#frame.contentWindow?.postMessage({ ...message, sdkPlayerId: 'watch' }, location.origin);
  }
}
