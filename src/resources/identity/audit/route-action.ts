import type { Route } from '../../../http/routing/route.ts';

const verbs = { POST: 'create', PUT: 'replace', PATCH: 'update', DELETE: 'delete', GET: 'get' } as const;
/** Last parts of paths that name what is done. */
const doneBy = new Set(['accept', 'check', 'complete', 'resend', 'test', 'upgrade', 'upload']);

/**
 * Names what a route does: `video.update` for `PATCH /videos/{videoId}`, `video.caption.delete` for
 * `DELETE /videos/{videoId}/captions/{language}`.
 */
export function actionOf({ method, path, action }: Pick<Route, 'method' | 'path' | 'action'>): string {
  if (action !== undefined) return action;
  const nouns = path.split('/').filter(part => part !== '' && !part.startsWith('{'));
  if (nouns[0] === 'account' && nouns.length > 1 && !doneBy.has(nouns[1]!)) nouns.shift();
  const last = nouns.at(-1) ?? '';
  const verb = doneBy.has(last) ? nouns.pop() : verbs[method];
  return [...nouns.map(singular), verb].join('.');
}

function singular(noun: string): string {
  if (noun.endsWith('ies')) return `${noun.slice(0, -3)}y`;
  return noun.endsWith('s') && !noun.endsWith('ss') ? noun.slice(0, -1) : noun;
}
