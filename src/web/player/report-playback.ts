/** Codes of the analytics endpoint. */
const eventTypes = { loaded: 1, play: 2, pause: 3, timeUpdate: 4, error: 5, end: 6, seek: 7 } as const;

interface PlayEvent {
  readonly eat: number;
  readonly typ: number;
  readonly vti: number;
  readonly vwi: number;
  readonly vhe: number;
  readonly pau: boolean;
  readonly eco?: number;
}

const version = '1';
const reportEveryMs = 5_000;
const maxEvents = 20;
const timeUpdateEveryMs = 1_000;
const sessionKey = 'millrace.session';

interface PlaybackReports {
  readonly mediaId: string;
  readonly isLive: boolean;
  /** The server's endpoint. */
  readonly url: string;
  /** The site that shows the player. */
  readonly referrer: string;
  /** Private or signed. */
  readonly token: string | null;
  readonly isAllowed: boolean;
  /** Ends the reports. */
  readonly signal?: AbortSignal;
}

/** Reports nothing with Do Not Track. A replay belongs to the same playback. */
export function reportPlayback(video: HTMLVideoElement, reports: PlaybackReports): void {
  const { mediaId, isLive, signal } = reports;
  if (mediaId === '' || !reports.isAllowed || isTrackingRefused()) return;
  const playback = {
    sid: sessionId(),
    mid: mediaId,
    pid: newId(),
    ref: reports.referrer,
    ver: version,
    ...signedToken(reports.token),
  };
  let events: PlayEvent[] = [];
  let timer = 0;
  let timeUpdateAtMs = 0;
  let hasEnded = false;

  const body = (): string => {
    clearTimeout(timer);
    timer = 0;
    const text = JSON.stringify({ sat: Date.now(), ...playback, eve: events });
    events = [];
    return text;
  };
  const send = (): void => {
    fetch(reports.url, { method: 'POST', body: body(), keepalive: true, credentials: 'omit' }).catch(() => {
      // Lost reports do not affect viewers.
    });
  };
  const add = (type: keyof typeof eventTypes): void => {
    if (hasEnded) return;
    events.push({
      eat: Date.now(),
      typ: eventTypes[type],
      vti: video.currentTime,
      vwi: video.videoWidth,
      vhe: video.videoHeight,
      pau: video.paused,
      ...(type === 'error' ? { eco: video.error?.code ?? 0 } : {}),
    });
    if (events.length >= maxEvents) send();
    else if (timer === 0) timer = setTimeout(send, reportEveryMs);
  };

  const listen = (type: keyof HTMLMediaElementEventMap, listener: () => void) =>
    video.addEventListener(type, listener, { signal });
  listen('play', () => add('play'));
  listen('pause', () => add('pause'));
  listen('seeked', () => add('seek'));
  listen('error', () => add('error'));
  listen('timeupdate', () => {
    const nowMs = Date.now();
    if (video.paused || video.seeking || Math.abs(nowMs - timeUpdateAtMs) < timeUpdateEveryMs) return;
    timeUpdateAtMs = nowMs;
    add('timeUpdate');
  });
  listen('ended', () => {
    add('end');
    hasEnded = !isLive;
  });
  const sendLast = () => {
    if (!video.paused) add('timeUpdate');
    if (events.length > 0) navigator.sendBeacon(reports.url, body());
  };
  addEventListener('pagehide', sendLast, { signal });
  signal?.addEventListener('abort', sendLast);
  add('loaded');
}

function isTrackingRefused(): boolean {
  const navigatorWithPrivacy = navigator as Navigator & {
    readonly globalPrivacyControl?: boolean;
    readonly doNotTrack?: string | null;
  };
  return navigatorWithPrivacy.globalPrivacyControl === true || navigatorWithPrivacy.doNotTrack === '1';
}

/** Private tokens name no viewer. */
function signedToken(token: string | null): { readonly tok?: string } {
  return token?.includes('.') ? { tok: token } : {};
}

function sessionId(): string {
  try {
    const known = sessionStorage.getItem(sessionKey);
    if (known !== null) return known;
    const made = newId();
    sessionStorage.setItem(sessionKey, made);
    return made;
  } catch {
    // A frame on another site may have no storage. Then each page is a session.
    return newId();
  }
}

/** A random UUID: `crypto.randomUUID` is missing on pages without TLS. */
function newId(): string {
  const hex = Array.from(crypto.getRandomValues(new Uint8Array(16)), byte =>
    byte.toString(16).padStart(2, '0'),
  );
  return [hex.slice(0, 4), hex.slice(4, 6), hex.slice(6, 8), hex.slice(8, 10), hex.slice(10)]
    .map(part => part.join(''))
    .join('-');
}
