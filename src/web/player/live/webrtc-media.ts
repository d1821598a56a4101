import { isLoopbackOnly } from '../../shared/is-loopback-only.ts';

interface WebRtcHandlers {
  /** @param headers of the answer to the offer */
  onAnswer(headers: Headers): void;
  /** The connection was rejected, failed or broke; `stop` was called. */
  onLost(hasPlayed: boolean): void;
}

/** Longest wait for the first frame, and for any later one, also when losses prevent decoding. */
const maxWaitMs = 3_000;
const watchIntervalMs = 500;
const problemTexts = {
  loopback: 'Not available in this browser: the server listens on 127.0.0.1 only',
  codec: 'Not available in this browser: it has no H.264 for WebRTC',
} as const;

export type WebRtcProblem = keyof typeof problemTexts;

/** Plays a broadcast over WHEP. */
export class WebRtcMedia {
  readonly #video: HTMLVideoElement;
  readonly #handlers: WebRtcHandlers;
  #connection: RTCPeerConnection | undefined;
  /** Address of the session at the server. */
  #session: string | undefined;
  #watchTimer = 0;
  #arrivedAtMs = 0;
  /** Frames, or packets where the browser may decode none. */
  #progress = 0;
  #hasPlayed = false;
  #latencySeconds: number | undefined;
  #buffered = { seconds: 0, frames: 0 };
  #problem: WebRtcProblem | undefined;

  constructor(video: HTMLVideoElement, handlers: WebRtcHandlers, signal?: AbortSignal) {
    this.#video = video;
    this.#handlers = handlers;
    const onLoaded = () => {
      if (this.isActive) this.#hasPlayed = true;
    };
    video.addEventListener('loadeddata', onLoaded, { signal });
    // Frees the place of the viewer at once.
    addEventListener('pagehide', () => endSession(this.#session), { signal });
  }

  get isActive(): boolean {
    return this.#connection !== undefined;
  }

  /** Why it could not connect, where that is known. */
  get problemKind(): WebRtcProblem | undefined {
    return this.#problem;
  }

  /** The same in English, for the viewer. */
  get problem(): string | undefined {
    return this.#problem && problemTexts[this.#problem];
  }

  /** Latency from the server to the screen. */
  get latencySeconds(): number | undefined {
    return this.#latencySeconds;
  }

  start(address: string): void {
    this.stop();
    this.#hasPlayed = false;
    this.#problem = hasH264() ? undefined : 'codec';
    if (this.#problem !== undefined) {
      queueMicrotask(() => this.#handlers.onLost(false));
      return;
    }
    this.#progress = 0;
    this.#buffered = { seconds: 0, frames: 0 };
    this.#arrivedAtMs = performance.now();
    this.#watchTimer = setInterval(() => void this.#watch(), watchIntervalMs);
    let connection: RTCPeerConnection;
    try {
      connection = new RTCPeerConnection();
    } catch {
      queueMicrotask(() => this.#handlers.onLost(false));
      clearInterval(this.#watchTimer);
      return;
    }
    this.#connection = connection;
    void this.#connect(connection, address).catch(() => this.#lose(connection));
  }

  stop(): void {
    clearInterval(this.#watchTimer);
    const connection = this.#connection;
    if (connection === undefined) return;
    this.#connection = undefined;
    connection.close();
    endSession(this.#session);
    this.#session = undefined;
    this.#latencySeconds = undefined;
    this.#video.srcObject = null;
  }

  async #connect(connection: RTCPeerConnection, address: string): Promise<void> {
    const media = new MediaStream();
    connection.addEventListener('track', ({ track, receiver }) => {
      media.addTrack(track);
      // The server says goodbye over DTLS.
      receiver.transport?.addEventListener('statechange', () => {
        if (receiver.transport?.state !== 'closed' || connection !== this.#connection) return;
        this.#session = undefined;
        this.#lose(connection);
      });
    });
    connection.addEventListener('connectionstatechange', () => {
      if (['failed', 'closed'].includes(connection.connectionState)) this.#lose(connection);
    });
    for (const kind of ['video', 'audio']) connection.addTransceiver(kind, { direction: 'recvonly' });
    await connection.setLocalDescription();
    const response = await fetch(address, {
      method: 'POST',
      headers: { 'Content-Type': 'application/sdp' },
      body: connection.localDescription?.sdp ?? '',
      signal: AbortSignal.timeout(maxWaitMs),
    });
    if (!response.ok) throw new Error(`The server responded with status ${response.status}.`);
    const location = response.headers.get('Location');
    const session = location === null ? undefined : new URL(location, response.url).href;
    const sdp = await response.text();
    if (connection !== this.#connection) {
      endSession(session);
      return;
    }
    this.#session = session;
    this.#handlers.onAnswer(response.headers);
    await connection.setRemoteDescription({ type: 'answer', sdp });
    if (connection === this.#connection) this.#video.srcObject = media;
  }

  #lose(connection: RTCPeerConnection): void {
    if (connection !== this.#connection) return;
    const { connectionState, remoteDescription } = connection;
    const hasConnected = connectionState === 'connected' || this.#hasPlayed;
    if (!hasConnected && isLoopbackOnly(remoteDescription?.sdp ?? '')) this.#problem = 'loopback';
    this.stop();
    this.#handlers.onLost(this.#hasPlayed);
  }

  async #watch(): Promise<void> {
    const connection = this.#connection;
    if (connection === undefined) return;
    let roundTripSeconds = 0;
    let video: RTCInboundRtpStreamStats | undefined;
    for (const stats of (await connection.getStats()).values()) {
      if (stats.type === 'inbound-rtp' && stats.kind === 'video') video = stats;
      else if (stats.type === 'candidate-pair' && stats.nominated)
        roundTripSeconds = stats.currentRoundTripTime ?? 0;
    }
    if (connection !== this.#connection) return;
    const nowMs = performance.now();
    if (video !== undefined && this.#hasPlayed) {
      const { packetsReceived = 0, framesDecoded = 0 } = video;
      const { jitterBufferDelay = 0, jitterBufferEmittedCount = 0 } = video;
      const progress = document.hidden || this.#video.paused ? packetsReceived : framesDecoded;
      if (progress !== this.#progress) this.#arrivedAtMs = nowMs;
      this.#progress = progress;
      const frames = jitterBufferEmittedCount - this.#buffered.frames;
      const seconds = jitterBufferDelay - this.#buffered.seconds;
      this.#buffered = { seconds: jitterBufferDelay, frames: jitterBufferEmittedCount };
      if (frames > 0) this.#latencySeconds = roundTripSeconds / 2 + seconds / frames;
    }
    if (nowMs - this.#arrivedAtMs > maxWaitMs) this.#lose(connection);
  }
}

/** Firefox has it only with the OpenH264 plug-in. Browsers that do not tell are tried. */
function hasH264(): boolean {
  const codecs = globalThis.RTCRtpReceiver?.getCapabilities?.('video')?.codecs;
  return codecs === undefined || codecs.some(({ mimeType }) => mimeType.toLowerCase() === 'video/h264');
}

/** Ends the session. Best effort: the server times it out anyway. */
function endSession(address: string | undefined): void {
  if (address !== undefined) void fetch(address, { method: 'DELETE', keepalive: true }).catch(() => {});
}
