import { pageElement } from '../ui/page-elements.ts';
import type { MenuPage } from '../ui/popup-menu.ts';
import type { LiveSession } from './live-session.ts';

interface CreatedClip {
  readonly url: string;
}

const lengths = [15, 30, 60] as const;
const timeoutMs = 30_000;
const unreachable = 'The server can’t be reached. Check your connection, and try again.';

/** Turns the seconds that the viewer has just seen into a video, and shows its link. */
export class ClipControl {
  readonly #url: string;
  readonly #session: LiveSession;
  readonly #card = pageElement('clip-card', HTMLElement);
  readonly #text = pageElement('clip-text', HTMLElement);
  readonly #watch = document.createElement('a');
  readonly #copy = pageElement('clip-copy', HTMLButtonElement);
  readonly #close = pageElement('clip-close', HTMLButtonElement);
  readonly #opener = pageElement('clip', HTMLButtonElement);
  #isCreating = false;

  constructor(url: string, session: LiveSession, video: HTMLVideoElement) {
    this.#url = url;
    this.#session = session;
    this.#watch.className = 'clip-action';
    this.#watch.textContent = 'Watch';
    this.#watch.target = '_blank';
    this.#watch.rel = 'noopener';
    pageElement('clip-actions', HTMLElement).prepend(this.#watch);
    this.#copy.addEventListener('click', () => void this.#copyLink());
    this.#close.addEventListener('click', () => this.#hide());
    this.#card.addEventListener('keydown', ({ key }) => {
      if (key === 'Escape' && !this.#isCreating) this.#hide();
    });
    // The viewer watches the clip in another tab.
    this.#watch.addEventListener('click', () => video.pause());
  }

  get canClip(): boolean {
    return this.#session.phase === 'live';
  }

  menuPage(): MenuPage {
    return {
      title: 'Clip this moment',
      items: lengths.map(seconds => ({
        label: `Last ${seconds} seconds`,
        choose: () => void this.#create(seconds),
      })),
    };
  }

  async #create(lastSeconds: number): Promise<void> {
    if (this.#isCreating) return;
    this.#isCreating = true;
    const behindSeconds = Math.max(0, this.#session.latencySeconds() ?? 0);
    this.#show('Creating your clip…', undefined);
    try {
      const response = await fetch(this.#url, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ lastSeconds, behindSeconds }),
        signal: AbortSignal.timeout(timeoutMs),
      });
      const answer = (await response.json()) as CreatedClip & { readonly detail?: string };
      if (response.ok) this.#show(readyText(answer.url), answer.url);
      else this.#show(answer.detail ?? 'The clip could not be created. Try again.', undefined);
    } catch {
      this.#show(unreachable, undefined);
    } finally {
      this.#isCreating = false;
      this.#close.hidden = false;
      this.#takeFocus();
    }
  }

  /** The button that opened the menu comes after the card: a keyboard would reach the card last. */
  #takeFocus(): void {
    if (document.activeElement !== this.#opener) return;
    (this.#watch.hidden ? this.#close : this.#watch).focus({ preventScroll: true });
  }

  #hide(): void {
    this.#card.hidden = true;
    this.#opener.focus({ preventScroll: true });
  }

  #show(text: string, url: string | undefined): void {
    this.#card.hidden = false;
    this.#text.textContent = text;
    this.#watch.hidden = url === undefined;
    this.#copy.hidden = url === undefined;
    this.#close.hidden = this.#isCreating && url === undefined;
    this.#copy.textContent = 'Copy link';
    if (url !== undefined) this.#watch.href = url;
  }

  async #copyLink(): Promise<void> {
    const { href } = this.#watch;
    try {
      await navigator.clipboard.writeText(href);
      this.#copy.textContent = 'Copied';
    } catch {
      // Pages without HTTPS and frames may not write to the clipboard.
      this.#text.textContent = href;
      getSelection()?.selectAllChildren(this.#text);
    }
  }
}

function readyText(url: string): string {
  const isPrivate = new URL(url).searchParams.has('token');
  return isPrivate ? 'Your clip is ready. Its link works for one viewer only.' : 'Your clip is ready.';
}
