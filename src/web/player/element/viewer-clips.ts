import type { LiveSession } from '../live/live-session.ts';
import { asRecord, asText, asWebUrl } from '../theme/player-theme.ts';
import type { ClipProblem, PlayerClip, PlayerClips } from './player-media.ts';

const timeoutMs = 30_000;

/** Makes clips of what the viewer of a live stream has just seen. */
export class ViewerClips implements PlayerClips {
  readonly #url: string;
  readonly #session: LiveSession;

  /** @param url of the server's endpoint for this live stream */
  constructor(url: string, session: LiveSession) {
    this.#url = url;
    this.#session = session;
  }

  get canClip(): boolean {
    return this.#session.phase === 'live';
  }

  async create(lastSeconds: number): Promise<PlayerClip> {
    const behindSeconds = Math.max(0, this.#session.latencySeconds() ?? 0);
    try {
      const response = await fetch(this.#url, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ lastSeconds, behindSeconds }),
        signal: AbortSignal.timeout(timeoutMs),
      });
      const answer = asRecord(await response.json());
      const url = asWebUrl(answer?.url);
      if (!response.ok || url === undefined) return { problem: problemOf(asText(answer?.type)) };
      return { url, isPrivate: new URL(url).searchParams.has('token') };
    } catch {
      return { problem: 'unreachable' };
    }
  }
}

/** @param type of the server's error, whose last part is its code */
function problemOf(type: string | undefined): ClipProblem {
  switch (type?.split('/').at(-1)) {
    case 'too-many-requests':
    case 'not-ready':
      return 'too-many';
    case 'invalid-viewer-clip':
    case 'live-stream-not-broadcasting':
      return 'too-soon';
    default:
      return 'failed';
  }
}
