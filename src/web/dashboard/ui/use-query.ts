import { useLocation } from 'preact-iso/router';

/**
 * What a page's address says after its `?`, and a way to change it: lists keep their search, order and page there, so that a reload
 * and the way back show the same.
 */
export function useQuery(): {
  readonly query: Readonly<Record<string, string>>;
  /** Changes some values; undefined or empty takes one away. Replaces the entry of the history. */
  change(changes: Readonly<Record<string, string | undefined>>): void;
} {
  const { query, path, route } = useLocation();
  return {
    query,
    change: changes => {
      const kept = Object.entries({ ...query, ...changes }).filter(
        ([, value]) => value !== undefined && value !== '',
      );
      const text = new URLSearchParams(kept as [string, string][]).toString();
      route(text === '' ? path : `${path}?${text}`, true);
    },
  };
}
