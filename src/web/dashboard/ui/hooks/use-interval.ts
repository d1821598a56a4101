import { useEffect, useRef } from 'preact/hooks';

/**
 * Does something again and again for as long as the component is shown and the page is looked at: not while its tab is hidden, and at
 * once when that is shown again.
 *
 * @param refreshMs undefined while it is not wanted
 */
export function useInterval(periodMs: number | undefined, work: () => void): void {
  const latest = useRef(work);
  latest.current = work;
  useEffect(() => {
    if (periodMs === undefined) return;
    let timer: ReturnType<typeof setInterval> | undefined;
    const run = () => latest.current();
    const follow = () => {
      clearInterval(timer);
      timer = document.visibilityState === 'visible' ? setInterval(run, periodMs) : undefined;
    };
    const appear = () => {
      follow();
      if (document.visibilityState === 'visible') run();
    };
    follow();
    document.addEventListener('visibilitychange', appear);
    return () => {
      clearInterval(timer);
      document.removeEventListener('visibilitychange', appear);
    };
  }, [periodMs]);
}
