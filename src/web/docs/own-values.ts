import { serverUrl } from '../shared/base-path.ts';
import { callerHeaders, onCaller } from './caller.ts';

/** Lists whose newest item gives a variable of examples its value. */
const newest: Readonly<Record<string, readonly [path: string, field: string]>> = {
  VIDEO_ID: ['/videos', 'videoId'],
  LIVE_STREAM_ID: ['/live-streams', 'liveStreamId'],
  WEBHOOK_ID: ['/webhooks', 'webhookId'],
  PLAYER_ID: ['/players', 'playerId'],
  WATERMARK_ID: ['/watermarks', 'watermarkId'],
};

/** Finds where examples use a variable. Shells also look up the newest one themselves. */
const usesOf = (name: string) =>
  [
    `(?<=(?:^|\\n) *${name}=)\\$\\(curl [^\\n]*pageSize=1[^\\n]*\\)(?: *#[^\\n]*)?`,
    `\\$\\{?${name}\\b\\}?`,
    `process\\.env\\.${name}\\b`,
    `os\\.environ\\["${name}"\\]`,
    `os\\.Getenv\\("${name}"\\)`,
    `getenv\\('${name}'\\)`,
  ].join('|');

/** Puts ids of the reader into examples, unless an earlier example of the page creates what has the id. */
export function fillExamples(afterwards: () => void): void {
  const codes = [...document.querySelectorAll<HTMLElement>('.code code')];
  const text = codes.map(code => code.textContent).join('\n');
  const names = Object.keys(newest).filter(name => {
    const isCreated = new RegExp(`(?:^|\\n) *${name}=(?!\\$\\(curl [^\\n]*pageSize=1)`).test(text);
    return !isCreated && new RegExp(usesOf(name)).test(text);
  });
  let turn = 0;
  const refill = async () => {
    turn += 1;
    const ofTurn = turn;
    const headers = callerHeaders();
    const ids = headers === undefined ? [] : await Promise.all(names.map(name => newestId(name, headers)));
    if (ofTurn !== turn) return;
    restore();
    for (const [index, name] of names.entries())
      for (const code of codes) if (ids[index] !== undefined) fill(code, usesOf(name), ids[index]);
    afterwards();
  };
  onCaller(() => void refill());
}

async function newestId(name: string, headers: Record<string, string>): Promise<string | undefined> {
  const [path, field] = newest[name]!;
  try {
    const response = await fetch(`${serverUrl}${path}?pageSize=1`, { headers, cache: 'no-store' });
    const { data } = (await response.json()) as { data?: readonly Record<string, string>[] };
    return data?.[0]?.[field];
  } catch {
    return undefined;
  }
}

function fill(code: HTMLElement, pattern: string, id: string): void {
  const matches = [...(code.textContent ?? '').matchAll(new RegExp(pattern, 'g'))];
  for (const match of matches.reverse()) {
    const own = document.createElement('mark');
    [own.dataset.original] = match;
    const quote = /["']/.exec(match[0])?.[0] ?? "'";
    own.textContent = /^(?:process|os|getenv)/.test(match[0]) ? `${quote}${id}${quote}` : id;
    own.title = 'Your newest one';
    const range = rangeOf(code, match.index, match.index + match[0].length);
    range.deleteContents();
    range.insertNode(own);
  }
}

function restore(): void {
  for (const own of document.querySelectorAll<HTMLElement>('.code mark')) {
    const parent = own.parentElement;
    own.replaceWith(own.dataset.original ?? '');
    parent?.normalize();
  }
}

/** Characters of a code block, which may be in several elements. */
function rangeOf(code: HTMLElement, start: number, end: number): Range {
  const range = document.createRange();
  const walker = document.createTreeWalker(code, NodeFilter.SHOW_TEXT);
  let at = 0;
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    const length = node.textContent?.length ?? 0;
    if (start >= at && start < at + length) range.setStart(node, start - at);
    if (end > at && end <= at + length) range.setEnd(node, end - at);
    at += length;
  }
  return range;
}
