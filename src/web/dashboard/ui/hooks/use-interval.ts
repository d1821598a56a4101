import { useEffect, useRef } from 'preact/hooks';

/** Calls `work` while the tab is visible, and at once when it becomes visible again. Undefined pauses. */
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
