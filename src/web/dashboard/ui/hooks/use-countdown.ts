import { useEffect, useState } from 'preact/hooks';

/** @param untilMs undefined while there is nothing to wait for */
export function useCountdown(untilMs: number | undefined): number {
  const [, setTicks] = useState(0);
  useEffect(() => {
    if (untilMs === undefined) return;
    const timer = setInterval(() => {
      setTicks(ticks => ticks + 1);
      if (Date.now() >= untilMs) clearInterval(timer);
    }, 1_000);
    return () => clearInterval(timer);
  }, [untilMs]);
  return untilMs === undefined ? 0 : Math.max(0, Math.ceil((untilMs - Date.now()) / 1_000));
}
