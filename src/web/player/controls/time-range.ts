import MediaTimeRange from 'media-chrome/dist/media-time-range.js';
import './media-chrome.ts';

const previewRequest = 'mediapreviewrequest';
const positionAttribute = 'mediacurrenttime';
const seekRequest = 'mediaseekrequest';

/** The seek bar of media-chrome. It seeks when it is released, and knows bars that do not start at 0, as of live streams. */
export class TimeRange extends MediaTimeRange {
  #isAtLiveEdge = false;
  #soughtSeconds: number | undefined;
  #isForwarding = false;

  constructor() {
    super();
    this.addEventListener(previewRequest, event => this.#correctPreview(event as CustomEvent<number | null>));
    this.addEventListener(seekRequest, event => {
      if (this.#isForwarding) return;
      event.stopImmediatePropagation();
      this.#soughtSeconds = (event as CustomEvent<number>).detail;
    });
    this.range.addEventListener('change', () => {
      if (this.#soughtSeconds !== undefined) this.#forward(seekRequest, this.#soughtSeconds);
      this.#soughtSeconds = undefined;
    });
  }

  get isDragged(): boolean {
    return this.#soughtSeconds !== undefined;
  }

  /** Follows the broadcast: the position is the end of the bar, although the media plays a moment behind it. */
  set isAtLiveEdge(isAtLiveEdge: boolean) {
    if (isAtLiveEdge === this.#isAtLiveEdge) return;
    this.#isAtLiveEdge = isAtLiveEdge;
    this.attributeChangedCallback(positionAttribute, null, this.getAttribute(positionAttribute));
  }

  override get mediaCurrentTime(): number | undefined {
    return this.#isAtLiveEdge ? this.mediaSeekableEnd : super.mediaCurrentTime;
  }

  override set mediaCurrentTime(seconds: number | undefined) {
    super.mediaCurrentTime = seconds;
  }

  /** media-chrome takes the start of the bar for 0. */
  #correctPreview(event: CustomEvent<number | null>): void {
    const [start = 0, end = 0] = this.mediaSeekable ?? [];
    if (this.#isForwarding || event.detail === null || start === 0 || end === 0) return;
    event.stopImmediatePropagation();
    this.#forward(previewRequest, start + (event.detail / end) * (end - start));
  }

  #forward(type: string, detail: number): void {
    this.#isForwarding = true;
    this.dispatchEvent(new CustomEvent(type, { composed: true, bubbles: true, detail }));
    this.#isForwarding = false;
  }
}

if (customElements.get('millrace-time-range') === undefined)
  customElements.define('millrace-time-range', TimeRange);
