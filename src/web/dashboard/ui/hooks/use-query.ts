import { useRef } from 'preact/hooks';
import { useLocation } from './use-location.ts';

/** Lists keep search, order and page in the query, so that reloads and the back button show the same. */
export function useQuery(): {
  readonly query: Readonly<Record<string, string>>;
  /** Undefined or empty removes a value. Replaces the history entry. */
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
