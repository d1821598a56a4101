import { useRef } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';

/**
 * What a page's address says after its `?`, and a way to change it: lists keep their search, order and page there, so that a reload
 * and the way back show the same. A page that is being left, while the code of the next one comes, keeps its own.
 */
export function useQuery(): {
  readonly query: Readonly<Record<string, string>>;
  /** Changes some values; undefined or empty takes one away. Replaces the entry of the history. */
  change(changes: Readonly<Record<string, string | undefined>>): void;
} {
  const { query: newest, path, route } = useLocation();
  const own = useRef({ path, query: newest });
  if (path === own.current.path) own.current.query = newest;
  const { query } = own.current;
  return {
    query,
    change: changes => {
      if (path !== own.current.path) return;
      const kept = Object.entries({ ...query, ...changes }).filter(
        ([, value]) => value !== undefined && value !== '',
      );
      const text = new URLSearchParams(kept as [string, string][]).toString();
      route(text === '' ? path : `${path}?${text}`, true);
    },
  };
}
