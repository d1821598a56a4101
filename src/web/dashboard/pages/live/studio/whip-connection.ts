import { withBasePath } from '../../../../shared/base-path.ts';
import { isLoopbackOnly } from '../../../../shared/is-loopback-only.ts';
import { withServerSetting } from '../../../format/server-setting.ts';
import { t } from '../../../texts/live.ts';
import { framesPerSecond, type VideoCodec, videoCodec } from './capture.ts';

/** An answer of the server that another attempt may not change. */
export class WhipRefusal extends Error {
  readonly status: number;

  constructor(status: number, text: string) {
    super(text);
    this.status = status;
  }
}

export interface WhipMedia {
  readonly video: MediaStreamTrack;
  readonly audio: MediaStreamTrack;
  readonly maxBitsPerSecond: number;
}

interface WhipConnectionOptions extends WhipMedia {
  readonly streamKey: string;
  /** Once, after {@link WhipConnection.open} has resolved. */
  lost(): void;
}

const requestTimeoutMs = 15_000;
const connectTimeoutMs = 15_000;
/** ICE recovers from short losses on its own. */
const disconnectedGraceMs = 4_000;
const audioBitsPerSecond = 128_000;

/** One WebRTC session that publishes a video and an audio track. RFC 9725. */
export class WhipConnection {
  readonly #options: WhipConnectionOptions;
  readonly #peer = new RTCPeerConnection({ bundlePolicy: 'max-bundle' });
  readonly #video: RTCRtpTransceiver;
  #session: string | undefined;
  #lossTimer: number | undefined;
  #isOpen = false;
  #isClosed = false;

  constructor(options: WhipConnectionOptions) {
    this.#options = options;
    const { video, audio, maxBitsPerSecond } = options;
    const streams = [new MediaStream([video, audio])];
    const direction = 'sendonly';
    this.#video = this.#peer.addTransceiver(video, {
      direction,
      streams,
      sendEncodings: [{ maxBitrate: maxBitsPerSecond, maxFramerate: framesPerSecond }],
    });
    this.#peer.addTransceiver(audio, {
      direction,
      streams,
      sendEncodings: [{ maxBitrate: audioBitsPerSecond }],
    });
    preferCodec(this.#video, videoCodec());
    this.#peer.onconnectionstatechange = () => this.#stateChanged();
  }

  /** Resolves when media flows. @throws WhipRefusal; Error when the server cannot be reached */
  async open(): Promise<void> {
    const { streamKey } = this.#options;
    await keepResolution(this.#video.sender);
    const offer = await this.#peer.createOffer();
    const sdp = withStereo(offer.sdp ?? '');
    // The server answers checks at its own candidates, so those of this browser are not needed in the offer.
    await this.#peer.setLocalDescription({ type: 'offer', sdp });
    const response = await fetch(withBasePath('/whip'), {
      method: 'POST',
      headers: { 'Content-Type': 'application/sdp', Authorization: `Bearer ${streamKey}` },
      body: this.#peer.localDescription?.sdp ?? sdp,
      signal: AbortSignal.timeout(requestTimeoutMs),
    });
    if (response.status !== 201) throw new WhipRefusal(response.status, await problemText(response));
    this.#session = new URL(response.headers.get('Location') ?? '', response.url).href;
    await this.#peer.setRemoteDescription({ type: 'answer', sdp: await response.text() });
    await this.#connected();
    this.#isOpen = true;
  }

  replaceVideo(track: MediaStreamTrack): Promise<void> {
    return this.#video.sender.replaceTrack(track);
  }

  async setMaxBitrate(bitsPerSecond: number): Promise<void> {
    const { sender } = this.#video;
    const parameters = sender.getParameters();
    for (const encoding of parameters.encodings) encoding.maxBitrate = bitsPerSecond;
    await sender.setParameters(parameters);
  }

  stats(): Promise<RTCStatsReport> {
    return this.#peer.getStats();
  }

  /** Text of the server if it has ended the session; undefined if the connection was lost. */
  async endedText(): Promise<string | undefined> {
    if (this.#session === undefined) return undefined;
    try {
      const response = await fetch(this.#session, {
        method: 'PATCH',
        headers: { 'Content-Type': 'application/trickle-ice-sdpfrag' },
        body: '',
        signal: AbortSignal.timeout(requestTimeoutMs),
      });
      return response.status === 410 ? await problemText(response) : undefined;
    } catch {
      return undefined;
    }
  }

  /** Tells the server that the broadcast ends. */
  async end(): Promise<void> {
    this.#isClosed = true;
    if (this.#session !== undefined) {
      // Ends the session before the connection closes, which the server would treat as a loss.
      await fetch(this.#session, {
        method: 'DELETE',
        keepalive: true,
        signal: AbortSignal.timeout(requestTimeoutMs),
      }).catch(() => {});
    }
    this.close();
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#lossTimer);
    this.#peer.onconnectionstatechange = null;
    this.#peer.close();
  }

  #connected(): Promise<void> {
    const peer = this.#peer;
    return new Promise((resolve, reject) => {
      const unreachable = isLoopbackOnly(peer.remoteDescription?.sdp ?? '')
        ? withServerSetting(t('studio.loopback'), 'MILLRACE_HOST')
        : t('studio.blocked');
      const timer = setTimeout(() => finish(new Error(unreachable)), connectTimeoutMs);
      const finish = (error?: Error) => {
        clearTimeout(timer);
        peer.removeEventListener('connectionstatechange', check);
        if (error === undefined) resolve();
        else reject(error);
      };
      const check = () => {
        if (peer.connectionState === 'connected') finish();
        else if (peer.connectionState === 'failed' || peer.connectionState === 'closed') {
          finish(new Error(unreachable));
        }
      };
      peer.addEventListener('connectionstatechange', check);
      check();
    });
  }

  #stateChanged(): void {
    const { connectionState } = this.#peer;
    clearTimeout(this.#lossTimer);
    if (!this.#isOpen) return;
    if (connectionState === 'failed' || connectionState === 'closed') this.#lose();
    else if (connectionState === 'disconnected') {
      this.#lossTimer = setTimeout(() => this.#lose(), disconnectedGraceMs);
    }
  }

  #lose(): void {
    if (this.#isClosed) return;
    this.close();
    this.#options.lost();
  }
}

function preferCodec(transceiver: RTCRtpTransceiver, codec: VideoCodec | undefined): void {
  const codecs = RTCRtpSender.getCapabilities('video')?.codecs ?? [];
  const helpers = codecs.filter(({ mimeType }) => mimeType.toLowerCase() === 'video/rtx');
  const preferred = codecs.filter(
    ({ mimeType, sdpFmtpLine = '' }) =>
      mimeType.toLowerCase() === `video/${codec}` &&
      (codec !== 'h264' || sdpFmtpLine.includes('packetization-mode=1')),
  );
  if (preferred.length > 0) transceiver.setCodecPreferences?.([...preferred, ...helpers]);
}

/** A change of the resolution would interrupt playback, so the frame rate gives way. */
async function keepResolution(sender: RTCRtpSender): Promise<void> {
  const parameters = sender.getParameters() as RTCRtpSendParameters & { degradationPreference?: string };
  parameters.degradationPreference = 'maintain-resolution';
  // Some browsers do not know it.
  await sender.setParameters(parameters).catch(() => {});
}

/** Browsers send mono unless both sides ask for stereo. RFC 7587, 6.1. */
function withStereo(sdp: string): string {
  const type = /^a=rtpmap:(\d+) opus\/48000/m.exec(sdp)?.[1];
  return type === undefined
    ? sdp
    : sdp.replace(
        new RegExp(`^a=fmtp:${type} (?!.*stereo=)(.*)$`, 'm'),
        `a=fmtp:${type} $1;stereo=1;sprop-stereo=1`,
      );
}

async function problemText(response: Response): Promise<string> {
  try {
    const { detail, title } = (await response.json()) as { detail?: string; title?: string };
    return detail ?? title ?? t('studio.badStatus', { status: response.status });
  } catch {
    return t('studio.badStatus', { status: response.status });
  }
}
