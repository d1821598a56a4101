import type { Browser, Page } from 'playwright-core';

/** Needed beside the usual arguments: a camera and a microphone that exist everywhere, and may be used. */
export const fakeMediaArguments: readonly string[] = [
  '--use-fake-device-for-media-stream',
  '--use-fake-ui-for-media-stream',
];

interface WhipPublishOptions {
  /** URL of the server; pages of loopback may use a camera without HTTPS. */
  readonly baseUrl: string;
  readonly streamKey: string;
  readonly hasAudio: boolean;
  /** H.264 unless given. */
  readonly codec?: string;
  /** Changes the answer before the browser gets it, such as to take candidates away. */
  readonly changeAnswer?: (answer: string) => string;
}

interface WhipPageStats {
  readonly state: string;
  /** Protocol of the transport. */
  readonly protocol: string;
  readonly keyframes: number;
  readonly retransmitted: number;
  /** Maximum since the start; a busy browser soon aims lower. */
  readonly maxTargetBitsPerSecond: number;
}

const createOffer = (hasAudio: boolean, codec: string) => `(async () => {
  const media = await navigator.mediaDevices.getUserMedia({
    video: { width: 640, height: 360, frameRate: 20 },
    audio: ${hasAudio},
  });
  window.connection = new RTCPeerConnection({ bundlePolicy: 'max-bundle' });
  for (const track of media.getTracks()) {
    const transceiver = connection.addTransceiver(track, { direction: 'sendonly', streams: [media] });
    if (track.kind === 'audio') continue;
    const { codecs } = RTCRtpSender.getCapabilities('video');
    transceiver.setCodecPreferences(codecs.filter(each => ['${codec}', 'video/rtx'].includes(each.mimeType)));
    const parameters = transceiver.sender.getParameters();
    parameters.degradationPreference = 'maintain-resolution';
    await transceiver.sender.setParameters(parameters);
  }
  await connection.setLocalDescription();
  window.maxTargetBitrate = 0;
  setInterval(async () => {
    for (const { targetBitrate = 0 } of (await connection.getStats()).values())
      maxTargetBitrate = Math.max(maxTargetBitrate, targetBitrate);
  }, 50);
  return connection.localDescription.sdp;
})()`;

const readStats = `(async () => {
  const all = [...(await connection.getStats()).values()];
  const video = all.find(each => each.type === 'outbound-rtp' && each.kind === 'video');
  const pair = all.find(each => each.type === 'candidate-pair' && each.nominated);
  return {
    state: connection.connectionState,
    protocol: all.find(each => each.id === pair?.localCandidateId)?.protocol ?? '',
    keyframes: video?.keyFramesEncoded ?? 0,
    retransmitted: video?.retransmittedPacketsSent ?? 0,
    maxTargetBitsPerSecond: Math.max(maxTargetBitrate, video?.targetBitrate ?? 0),
  };
})()`;

/** Publishes the browser's test pattern with plain WebRTC, as any page would. */
export class WhipPage {
  readonly page: Page;
  /** Address of the session. */
  readonly session: string;

  private constructor(page: Page, session: string) {
    this.page = page;
    this.session = session;
  }

  static async publish(browser: Browser, options: WhipPublishOptions): Promise<WhipPage> {
    const { baseUrl, streamKey, hasAudio, codec = 'video/H264', changeAnswer } = options;
    const page = await browser.newPage();
    await page.route('**/whip-page.html', route =>
      route.fulfill({ contentType: 'text/html', body: '<!doctype html>' }),
    );
    await page.goto(`${baseUrl}/whip-page.html`);
    const response = await fetch(`${baseUrl}/whip`, {
      method: 'POST',
      headers: { 'content-type': 'application/sdp', authorization: `Bearer ${streamKey}` },
      body: await page.evaluate<string>(createOffer(hasAudio, codec)),
    });
    const text = await response.text();
    if (response.status !== 201) throw new Error(`${response.status}: ${text}`);
    const answer = JSON.stringify({ type: 'answer', sdp: changeAnswer?.(text) ?? text });
    await page.evaluate(`connection.setRemoteDescription(${answer})`);
    return new WhipPage(page, new URL(response.headers.get('location')!, baseUrl).href);
  }

  /** Reads the statistics of the sender. */
  stats(): Promise<WhipPageStats> {
    return this.page.evaluate<WhipPageStats>(readStats);
  }
}
