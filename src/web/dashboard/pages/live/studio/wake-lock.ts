/** Keeps the screen of a phone on while this page is shown. Returns a function that allows it to turn off again. */
export function keepScreenOn(): () => void {
  let lock: WakeLockSentinel | undefined;
  let isWanted = true;
  const request = async () => {
    if (document.visibilityState !== 'visible') return;
    // Refused on a low battery, for example; the broadcast works without.
    const granted = await navigator.wakeLock?.request('screen').catch(() => undefined);
    if (isWanted) lock = granted;
    else void granted?.release();
  };
  const onChange = () => void request();
  document.addEventListener('visibilitychange', onChange);
  void request();
  return () => {
    isWanted = false;
    document.removeEventListener('visibilitychange', onChange);
    void lock?.release();
  };
}
