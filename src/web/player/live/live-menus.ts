import type { Captions } from '../media/captions.ts';
import { pageElement } from '../ui/page-elements.ts';
import { type MenuItem, type MenuPage, PopupMenu } from '../ui/popup-menu.ts';
import { audioItem, audioPage, captionsItem, captionsPage, withBack } from '../ui/track-menus.ts';
import type { ClipControl } from './clip-control.ts';
import type { LiveMedia } from './live-media.ts';
import type { LiveSession } from './live-session.ts';

const latencyLabel = 'Latency';

/** The button opens the only menu that has a choice, or a list of the menus. */
export class LiveMenus {
  readonly #session: LiveSession;
  readonly #media: LiveMedia;
  readonly #captions: Captions;
  readonly #clips: ClipControl | undefined;
  readonly #button = pageElement('settings', HTMLButtonElement);
  readonly #captionsButton = pageElement('captions', HTMLButtonElement);
  readonly #clipButton = pageElement('clip', HTMLButtonElement);
  readonly #menu: PopupMenu;

  constructor(
    {
      session,
      captions,
      clips,
    }: { session: LiveSession; captions: Captions; clips: ClipControl | undefined },
    onToggle: () => void,
  ) {
    this.#session = session;
    this.#media = session.media;
    this.#captions = captions;
    this.#clips = clips;
    this.#menu = new PopupMenu(onToggle);
    this.#button.addEventListener('click', () => this.#menu.toggle(this.#button, this.#firstPage()));
    this.#captionsButton.addEventListener('click', () =>
      this.#menu.toggle(this.#captionsButton, () => captionsPage(captions)),
    );
    if (clips === undefined) return;
    this.#clipButton.addEventListener('click', () =>
      this.#menu.toggle(this.#clipButton, () => clips.menuPage()),
    );
  }

  get isOpen(): boolean {
    return this.#menu.isOpen;
  }

  refresh(): void {
    const items = this.#items();
    const hasCaptions = this.#captions.tracks.length > 0;
    const label = items.length === 1 ? items[0]!.label : 'Settings';
    if (this.#button.title !== label) {
      this.#button.title = label;
      this.#button.setAttribute('aria-label', label);
    }
    this.#button.hidden = items.length === 0;
    this.#captionsButton.hidden = !hasCaptions;
    this.#captionsButton.classList.toggle('is-on', this.#captions.language !== undefined);
    const canClip = this.#clips?.canClip === true;
    this.#clipButton.hidden = !canClip;
    if (items.length === 0 && !hasCaptions && !canClip) this.#menu.close();
    else this.#menu.refresh();
  }

  #items(): MenuItem[] {
    const { audioTracks, qualities } = this.#media;
    const { labels, current, chosen } = qualities;
    const hint = chosen ?? (current === undefined ? 'Auto' : `Auto (${current})`);
    const opens = (page: () => MenuPage) => withBack(page, this.#settingsPage);
    return [
      ...this.#latencyItem(opens(this.#latencies)),
      ...(labels.length > 1 ? [{ label: 'Quality', hint, opens: opens(this.#qualities) }] : []),
      ...(this.#session.webRtc.isActive ? [] : audioItem(audioTracks, opens(this.#audio))),
      ...captionsItem(
        this.#captions,
        opens(() => captionsPage(this.#captions)),
      ),
    ].filter((item, _, all) => item.label !== 'Captions' || all.length > 1);
  }

  #firstPage(): () => MenuPage {
    const items = this.#items();
    if (items.length > 1) return this.#settingsPage;
    if (items[0]?.label === latencyLabel) return this.#latencies;
    return items[0]?.label === 'Audio' ? this.#audio : this.#qualities;
  }

  #latencyItem(opens: () => MenuPage): MenuItem[] {
    if (!this.#session.hasUltraLowLatency) return [];
    return [{ label: latencyLabel, hint: this.#session.webRtc.isActive ? 'Ultra low' : 'Low', opens }];
  }

  readonly #latencies = (): MenuPage => {
    const session = this.#session;
    const isUltraLow = session.webRtc.isActive;
    return {
      title: latencyLabel,
      items: [
        {
          label: 'Low latency',
          isChosen: !isUltraLow,
          choose: () => session.chooseUltraLowLatency(false),
        },
        {
          label: 'Ultra low latency',
          hint: session.webRtc.problem,
          isChosen: isUltraLow,
          choose: () => session.chooseUltraLowLatency(true),
        },
      ],
    };
  };

  readonly #settingsPage = (): MenuPage => ({ title: 'Settings', items: this.#items() });

  readonly #audio = (): MenuPage => audioPage(this.#media.audioTracks);

  readonly #qualities = (): MenuPage => {
    const { qualities } = this.#media;
    const { chosen } = qualities;
    return {
      title: 'Quality',
      items: [
        {
          label: 'Auto',
          hint: chosen === undefined ? qualities.current : undefined,
          isChosen: chosen === undefined,
          choose: () => qualities.choose(undefined),
        },
        ...qualities.labels.map(label => ({
          label,
          isChosen: chosen === label,
          choose: () => qualities.choose(label),
        })),
      ],
    };
  };
}
