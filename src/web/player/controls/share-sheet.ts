import { encode } from 'uqr';
import type { PlayerTexts } from '../../i18n/player.ts';
import { formatTime } from '../../shared/time-text.ts';
import type { PlayerDetails } from '../element/player-media.ts';
import { openDialog } from './dialog.ts';
import { copyButton, createButton, createElement } from './elements.ts';

const svgNamespace = 'http://www.w3.org/2000/svg';

/** @param seconds position in a video; undefined for live streams */
export function openShareSheet(
  root: ParentNode,
  texts: PlayerTexts,
  details: PlayerDetails,
  seconds: number | undefined,
): void {
  const { t } = texts;
  const startsAt = createElement('input', { type: 'checkbox' });
  const link = field(t('player.link'));
  const code = field(t('player.embedCode'));
  const qr = createElement('div', { className: 'qr', role: 'img', 'aria-label': t('player.qrCode') });
  const update = () => {
    const position = startsAt.checked ? Math.floor(seconds ?? 0) : 0;
    const hash = position === 0 ? '' : `#t=${position}`;
    link.value = details.pageUrl + hash;
    code.value = embedCode(details, hash);
    qr.replaceChildren(qrCode(link.value));
  };
  update();
  startsAt.addEventListener('change', update);
  const choice = createElement(
    'label',
    { className: 'check' },
    startsAt,
    t('player.startAt', { time: formatTime(seconds ?? 0) }),
  );
  const copyOf = (input: HTMLInputElement, copy: string) =>
    createElement(
      'div',
      { className: 'copy-line' },
      input,
      copyButton(
        { copy, copied: t('player.copied') },
        () => input.value,
        () => input.select(),
      ),
    );
  const sides = createElement(
    'div',
    { className: 'share-fields' },
    createElement('h3', { text: t('player.link') }),
    copyOf(link, t('player.copyLink')),
    ...(seconds !== undefined && seconds >= 1 ? [choice] : []),
    createElement('h3', { text: t('player.embed') }),
    copyOf(code, t('player.copyCode')),
    ...shareVia(t('player.shareVia'), details.title, link),
  );
  const code2d = createElement(
    'div',
    { className: 'qr-side' },
    qr,
    createElement('p', { className: 'hint-text', text: t('player.qrCodeHint') }),
  );
  openDialog(root, texts, t('player.share'), createElement('div', { className: 'share' }, sides, code2d)).id =
    'share-sheet';
}

function field(label: string): HTMLInputElement {
  const input = createElement('input', { type: 'text', readonly: '', 'aria-label': label, dir: 'ltr' });
  input.addEventListener('focus', () => input.select());
  return input;
}

function shareVia(label: string, title: string, link: HTMLInputElement): HTMLElement[] {
  if (typeof navigator.share !== 'function') return [];
  // A viewer may close the window that opens.
  return [createButton(label, () => void navigator.share({ title, url: link.value }).catch(() => {}))];
}

export function embedCode({ embedUrl, title, size }: PlayerDetails, hash: string): string {
  const { width, height } = size ?? { width: 16, height: 9 };
  const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('"', '&quot;');
  return `<iframe src="${escaped(embedUrl + hash)}" title="${escaped(title)}" style="border:0;width:100%;aspect-ratio:${width}/${height}" allow="autoplay; fullscreen; picture-in-picture; encrypted-media" allowfullscreen></iframe>`;
}

/** Dark on light with a border, as scanners want it. */
function qrCode(text: string): SVGElement {
  const { data, size } = encode(text, { border: 2 });
  const svg = document.createElementNS(svgNamespace, 'svg');
  svg.setAttribute('viewBox', `0 0 ${size} ${size}`);
  svg.setAttribute('shape-rendering', 'crispEdges');
  const path = document.createElementNS(svgNamespace, 'path');
  const squares = data.flatMap((row, y) =>
    row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : [])),
  );
  path.setAttribute('d', squares.join(''));
  svg.append(path);
  return svg;
}
